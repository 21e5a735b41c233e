//! Name, kernel, machine and CPU of the host.

use oxperf_data::FeatureSet;
use oxperf_data::features::{Arch, CpuDesc, CpuId, ElfMachine, Hostname, OsRelease};

use super::HostFiles;
use super::tree::Tree;

/// The host's own words for what it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HostIdentity {
    /// Its network name.
    pub name: Option<String>,
    /// The release of its kernel.
    pub kernel: Option<String>,
    /// Its architecture.
    pub architecture: Option<String>,
    /// Its processor.
    pub processor: Option<String>,
}

impl HostFiles {
    /// What the host says that it is.
    pub fn identity(&self) -> HostIdentity {
        identity(&self.tree, &cpu_info(&self.tree))
    }
}

fn identity(tree: &Tree, cpu_info: &str) -> HostIdentity {
    let kernel = |name: &str| tree.text(&format!("proc/sys/kernel/{name}"));
    let processor = ["model name", "Processor"]
        .into_iter()
        .find_map(|field| cpu_field(cpu_info, field));
    HostIdentity {
        name: kernel("hostname"),
        kernel: kernel("osrelease"),
        architecture: kernel("arch"),
        processor: processor.map(|name| name.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

fn cpu_info(tree: &Tree) -> String {
    tree.text("proc/cpuinfo").unwrap_or_default()
}

pub(super) fn collect(tree: &Tree, features: &mut FeatureSet) {
    let cpu_info = cpu_info(tree);
    let host = identity(tree, &cpu_info);
    if let Some(name) = host.name {
        features.insert(&Hostname(name));
    }
    if let Some(release) = host.kernel {
        features.insert(&OsRelease(release));
        let architecture = host.architecture;
        collect_machine(
            architecture.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            features,
        );
    }
    if let Some(name) = host.processor {
        features.insert(&CpuDesc(name));
    }
    if let Some(id) = x86_cpu_id(&cpu_info).or_else(|| arm64_cpu_id(tree)) {
        features.insert(&CpuId(id));
    }
}

fn collect_machine(arch: String, features: &mut FeatureSet) {
    if let Some(machine) = elf_machine(&arch) {
        features.insert(&ElfMachine { machine, flags: 0 });
    }
    features.insert(&Arch(arch));
}

/// The ELF machine of the programs that a kernel of this machine type runs by default.
fn elf_machine(arch: &str) -> Option<u32> {
    match arch {
        "i386" | "i486" | "i586" | "i686" => Some(3),
        "ppc64" | "ppc64le" => Some(21),
        "s390x" => Some(22),
        "armv6l" | "armv7l" => Some(40),
        "x86_64" => Some(62),
        "aarch64" => Some(183),
        "riscv64" => Some(243),
        "loongarch64" => Some(258),
        _ => None,
    }
}

/// The value of the first line `name : value`.
fn cpu_field<'a>(cpu_info: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = cpu_info.lines().filter_map(|line| line.split_once(':'));
    fields
        .find(|(field, _)| field.trim() == name)
        .map(|(_, value)| value.trim())
}

/// Maker, family, model and stepping.
fn x86_cpu_id(cpu_info: &str) -> Option<String> {
    let field = |name| cpu_field(cpu_info, name);
    Some(format!(
        "{},{},{},{}",
        field("vendor_id")?,
        field("cpu family")?,
        field("model")?,
        field("stepping")?
    ))
}

/// The identification register of the first CPU that shows it.
fn arm64_cpu_id(tree: &Tree) -> Option<String> {
    let present = tree.cpus("sys/devices/system/cpu/present")?;
    let register = |cpu| format!("sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
    present.iter().find_map(|cpu| tree.text(&register(cpu)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeHost, get};
    use super::*;

    #[test]
    fn an_x86_host() {
        let cpu_info = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 142\n\
            model name\t: Intel(R)  Core(TM)   i7\nstepping\t: 10\n\nprocessor\t: 1\nmodel name\t: other\n";
        let fake = FakeHost::new(&[
            ("proc/sys/kernel/hostname", "box\n"),
            ("proc/sys/kernel/osrelease", "6.18.1\n"),
            ("proc/sys/kernel/arch", "x86_64\n"),
            ("proc/cpuinfo", cpu_info),
        ]);
        let features = fake.collect(collect);
        assert_eq!(get(&features, 2), Some(Hostname("box".into())));
        assert_eq!(get(&features, 2), Some(OsRelease("6.18.1".into())));
        assert_eq!(get(&features, 2), Some(Arch("x86_64".into())));
        assert_eq!(
            get(&features, 2),
            Some(ElfMachine {
                machine: 62,
                flags: 0
            })
        );
        assert_eq!(
            get(&features, 2),
            Some(CpuDesc("Intel(R) Core(TM) i7".into()))
        );
        assert_eq!(
            get(&features, 2),
            Some(CpuId("GenuineIntel,6,142,10".into()))
        );
    }

    #[test]
    fn an_arm_host() {
        let fake = FakeHost::new(&[
            ("proc/cpuinfo", "processor\t: 0\nCPU part\t: 0xd0c\n"),
            ("sys/devices/system/cpu/present", "0-1\n"),
            (
                "sys/devices/system/cpu/cpu1/regs/identification/midr_el1",
                "0x00000000413fd0c1\n",
            ),
        ]);
        let features = fake.collect(collect);
        assert_eq!(get(&features, 2), Some(CpuId("0x00000000413fd0c1".into())));
        assert_eq!(get::<CpuDesc>(&features, 2), None);
    }
}
