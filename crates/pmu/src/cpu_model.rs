//! The model of a CPU, as tables of events name it.

use std::fs;
use std::io::Read;
use std::path::Path;

/// Bytes of the first lines of `/proc/cpuinfo`, less than the kernel has to say of one CPU.
const BEGINNING: usize = 512;

/// perf's string for a model of CPU (`PERF_CPUID`): `GenuineIntel-6-5E-3` (model and stepping in hexadecimal),
/// `0x00000000410fd0c0` (MIDR of 64-bit Arm), `0x004b0201` (PVR of POWER), `0x489-0x8000000000000007-0x0` (RISC-V).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CpuModel(String);

impl CpuModel {
    /// The model that a text names. Nothing is checked: a name that no table has matches none.
    pub fn named(text: impl Into<String>) -> CpuModel {
        CpuModel(text.into())
    }

    /// The model of the machine that these `/proc` and `/sys` describe; `None` where they do not say.
    pub fn of_machine(proc: &Path, sysfs: &Path) -> Option<CpuModel> {
        let path = proc.join("cpuinfo");
        let in_text = |text: &[u8]| CpuModel::of_cpu_info(&String::from_utf8_lossy(text));
        // The kernel looks at each CPU of which it tells; most say all that is wanted in the first lines.
        beginning(&path)
            .and_then(|text| in_text(&text))
            .or_else(|| in_text(&fs::read(&path).ok()?))
            .or_else(|| arm64(sysfs))
    }

    /// The model of the first CPU in the text of `/proc/cpuinfo`, on architectures where that says it all.
    fn of_cpu_info(cpu_info: &str) -> Option<CpuModel> {
        let field = |name: &str| field(cpu_info, name);
        x86(field)
            .or_else(|| power(field))
            .or_else(|| riscv(field))
            .map(CpuModel)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The first lines of a file.
fn beginning(path: &Path) -> Option<Vec<u8>> {
    let mut text = vec![0; BEGINNING];
    let length = fs::File::open(path).ok()?.read(&mut text).ok()?;
    let end = text[..length].iter().rposition(|byte| *byte == b'\n')?;
    text.truncate(end);
    Some(text)
}

/// The value of the first line `name : value`.
fn field<'a>(cpu_info: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = cpu_info.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(field, _)| field.trim() == name);
    found.map(|(_, value)| value.trim())
}

fn x86<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let number = |name| field(name)?.parse::<u32>().ok();
    Some(format!(
        "{}-{}-{:X}-{:X}",
        field("vendor_id")?,
        number("cpu family")?,
        number("model")?,
        number("stepping")?
    ))
}

/// `revision : 2.2 (pvr 004e 1202)`.
fn power<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let (_, version) = field("revision")?.split_once("(pvr ")?;
    let digits: String = version.chars().filter(char::is_ascii_hexdigit).collect();
    let version = u32::from_str_radix(&digits, 16).ok()?;
    Some(format!("0x{version:08x}"))
}

fn riscv<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    Some(format!(
        "{}-{}-{}",
        field("mvendorid")?,
        field("marchid")?,
        field("mimpid")?
    ))
}

/// The identification register of the first CPU that shows it.
fn arm64(sysfs: &Path) -> Option<CpuModel> {
    let cpus = fs::read_dir(sysfs.join("devices/system/cpu")).ok()?;
    let number = |name: &str| name.strip_prefix("cpu")?.parse::<u32>().ok();
    let numbers = cpus.filter_map(|cpu| number(cpu.ok()?.file_name().to_str()?));
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    let register = |cpu: u32| {
        let name = format!("devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
        fs::read_to_string(sysfs.join(name)).ok()
    };
    let text = numbers.into_iter().find_map(register)?;
    Some(CpuModel(text.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cpu_info: &str) -> Option<String> {
        Some(CpuModel::of_cpu_info(cpu_info)?.as_str().to_owned())
    }

    #[test]
    fn models_of_cpu_info() {
        let intel = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\nstepping\t: 3\n";
        assert_eq!(of(intel).as_deref(), Some("GenuineIntel-6-5E-3"));
        let amd = "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 97\nstepping : 2\n";
        assert_eq!(of(amd).as_deref(), Some("AuthenticAMD-25-61-2"));
        let power = "cpu\t\t: POWER9, altivec supported\nrevision\t: 2.2 (pvr 004e 1202)\n";
        assert_eq!(of(power).as_deref(), Some("0x004e1202"));
        let riscv = "mvendorid : 0x489\nmarchid : 0x8000000000000007\nmimpid : 0x0\n";
        assert_eq!(of(riscv).as_deref(), Some("0x489-0x8000000000000007-0x0"));
        assert_eq!(of("CPU part\t: 0xd0c\n"), None);
        assert_eq!(of("revision : (pvr zz)\n"), None);
    }

    #[test]
    fn an_arm_machine_says_it_in_sysfs() {
        let root = std::env::temp_dir().join(format!("oxperf-cpu-model-{}", std::process::id()));
        let folder = root.join("devices/system/cpu/cpu1/regs/identification");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(root.join("devices/system/cpu/cpufreq")).unwrap();
        fs::write(folder.join("midr_el1"), "0x00000000410fd0c0\n").unwrap();
        let model = CpuModel::of_machine(&root, &root);
        fs::remove_dir_all(root).unwrap();
        assert_eq!(model, Some(CpuModel::named("0x00000000410fd0c0")));
    }
}
