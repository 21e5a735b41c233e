//! The recorder's questions to the machine before it plans: CPUs, limits, rights.

use std::fs;
use std::path::Path;

use oxperf_sys::{Sysfs, limits, process};

use crate::explain::{OpenFacts, Permissions, Processor, TraceFacts};
use crate::options::Rate;
use crate::plan::MachineInfo;
use crate::trace;

/// The folder of the kernel's settings for performance events.
const SETTINGS: &str = "/proc/sys/kernel";
/// Bytes of a ring when the setting cannot be read.
const DEFAULT_RING: usize = 512 * 1024;

/// The rights of this process.
pub fn permissions() -> Permissions {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    Permissions {
        paranoid: setting("perf_event_paranoid"),
        privileged: has_capability(&status, SYS_ADMIN | PERFMON),
        seccomp: status_field(&status, "Seccomp:").is_some_and(|mode| mode != "0"),
        open_files: None,
    }
}

/// Returns whether the kernel hides the addresses of its symbols from this process, as perf finds out: all of
/// `/proc/kallsyms` is then of no use.
pub fn hides_kernel_addresses() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    hides_addresses(
        setting("kptr_restrict"),
        setting("perf_event_paranoid"),
        has_capability(&status, SYSLOG),
    )
}

fn hides_addresses(restrict: Option<i32>, paranoid: Option<i32>, may_see: bool) -> bool {
    let restrict = restrict.unwrap_or(0);
    match may_see {
        true => restrict >= 2,
        false => restrict != 0 || paranoid.is_some_and(|level| level > 1),
    }
}

/// What decides why an event of `pmu` was refused.
pub fn open_facts(
    permissions: Permissions,
    machine: &MachineInfo,
    sysfs: &Sysfs,
    pmu: &str,
) -> OpenFacts {
    let lockdown = fs::read_to_string(sysfs.path("kernel/security/lockdown"));
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpumask = sysfs.path(format!("bus/event_source/devices/{pmu}/cpumask"));
    OpenFacts {
        permissions,
        online: machine.online.clone(),
        max_sample_rate: max_sample_rate(),
        max_stack: setting("perf_event_max_stack"),
        nmi_watchdog: has_nmi_watchdog(),
        locked_down: lockdown.is_ok_and(|modes| modes.contains("[confidentiality]")),
        virtual_machine: is_virtual(&processor),
        pmu_is_uncore: cpumask.exists(),
        missing_trace_terms: trace::missing_terms(sysfs, pmu),
    }
}

/// What decides why there is no hardware trace. `model` is perf's string for the CPU's model; `configuration` is the kernel's,
/// which may be packed where it stands.
pub fn trace_facts(
    sysfs: &Sysfs,
    model: Option<&str>,
    configuration: Option<String>,
) -> TraceFacts {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let devices = sysfs.path("bus/event_source/devices");
    let pmus = fs::read_dir(&devices).into_iter().flatten().flatten();
    let pmus = pmus.filter_map(|pmu| pmu.file_name().into_string().ok());
    let mut pmus: Vec<String> = pmus.collect();
    pmus.sort_unstable();
    let records_branches = |pmu: &String| {
        let entries = fs::read_to_string(devices.join(pmu).join("caps/branches"));
        entries.is_ok_and(|entries| entries.trim().parse().unwrap_or(0) > 0)
    };
    let words = |name| {
        cpu_field(&cpu_info, name)
            .unwrap_or_default()
            .split_whitespace()
    };
    TraceFacts {
        processor: Processor::of_model(model),
        brand: cpu_field(&cpu_info, "model name").map(str::to_owned),
        flags: words("flags").map(str::to_owned).collect(),
        virtual_machine: is_virtual(&cpu_info) || is_virtual_board(sysfs),
        configuration,
        has_branch_records: pmus.iter().any(records_branches),
        pmus,
    }
}

/// Returns whether what a hypervisor says of itself, or the board's name, is that of a virtual machine: not every CPU tells.
fn is_virtual_board(sysfs: &Sysfs) -> bool {
    let says = |file: &str, words: &[&str]| {
        let text = fs::read_to_string(sysfs.path(file)).unwrap_or_default();
        words.iter().any(|word| text.contains(word))
    };
    sysfs.path("hypervisor/type").exists()
        || says("class/dmi/id/sys_vendor", &["QEMU"])
        || says(
            "class/dmi/id/product_name",
            &["KVM", "Virtual Machine", "VMware"],
        )
}

/// Returns whether the kernel's watchdog takes a counter of every core.
pub fn has_nmi_watchdog() -> bool {
    setting("nmi_watchdog") == Some(1)
}

/// Returns whether the processor says that a hypervisor runs it.
fn is_virtual(processor: &str) -> bool {
    let flags = cpu_field(processor, "flags");
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// What `/proc/cpuinfo` says under a name of the first CPU.
fn cpu_field<'a>(processor: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = processor.lines().filter_map(|line| line.split_once(':'));
    let found = fields.find(|(field, _)| field.trim() == name);
    found.map(|(_, value)| value.trim())
}

/// Raises the number of files that this process may have open; the new limit.
pub fn raise_open_files() -> Option<u64> {
    limits::raise_open_files().ok()
}

/// Data pages of a ring when the user names none: what `kernel.perf_event_mlock_kb` allows beside the control page,
/// as a power of two.
pub fn default_ring_pages() -> usize {
    let page = process::page_size();
    let allowed = setting::<usize>("perf_event_mlock_kb")
        .map_or(DEFAULT_RING, |kb| (kb * 1024).saturating_sub(page));
    let pages = (allowed / page).max(1);
    1 << pages.ilog2()
}

/// The setting that limits the memory of rings, in kB.
pub fn ring_memory_limit() -> Option<u64> {
    setting("perf_event_mlock_kb")
}

/// The highest sampling frequency, in Hz.
pub fn max_sample_rate() -> Option<u64> {
    setting("perf_event_max_sample_rate")
}

/// The rate that the system allows: the frequency is cut to the limit. Says the limit when it was.
pub fn allowed_rate(asked: Rate, limit: Option<u64>) -> (Rate, Option<u64>) {
    match (asked, limit) {
        (Rate::Frequency(hertz), Some(limit)) if hertz > limit => {
            (Rate::Frequency(limit), Some(limit))
        }
        _ => (asked, None),
    }
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    fs::read_to_string(Path::new(SETTINGS).join(name))
        .ok()?
        .trim()
        .parse()
        .ok()
}

fn status_field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

/// The capabilities that lift the limits of performance events.
const SYS_ADMIN: u64 = 1 << 21;
const PERFMON: u64 = 1 << 38;
/// The one that shows the kernel's addresses.
const SYSLOG: u64 = 1 << 34;

/// Returns whether one of these capabilities is effective.
fn has_capability(status: &str, wanted: u64) -> bool {
    let effective =
        status_field(status, "CapEff:").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    effective.is_some_and(|bits| bits & wanted != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_of_root_and_of_nobody() {
        let limits = |status| has_capability(status, SYS_ADMIN | PERFMON);
        assert!(limits("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(limits("CapEff:\t0000004000000000\n"));
        assert!(!limits("CapEff:\t0000000000000000\n"));
        assert!(!limits(""));
        assert!(has_capability("CapEff:\t0000000400000000\n", SYSLOG));
    }

    #[test]
    fn who_may_see_addresses_does_unless_nobody_does() {
        assert!(!hides_addresses(Some(1), Some(2), true));
        assert!(hides_addresses(Some(2), Some(-1), true));
        assert!(hides_addresses(Some(1), Some(-1), false));
        assert!(hides_addresses(Some(0), Some(2), false));
        assert!(!hides_addresses(Some(0), Some(1), false));
        assert!(!hides_addresses(None, None, false));
    }

    #[test]
    fn only_frequencies_above_the_limit_are_cut() {
        assert_eq!(
            allowed_rate(Rate::Frequency(200), Some(100)),
            (Rate::Frequency(100), Some(100))
        );
        assert_eq!(
            allowed_rate(Rate::Frequency(100), Some(100)),
            (Rate::Frequency(100), None)
        );
        assert_eq!(
            allowed_rate(Rate::Period(200), Some(100)),
            (Rate::Period(200), None)
        );
    }

    #[test]
    fn hypervisors_are_flags() {
        assert!(is_virtual("model\t: 1\nflags\t\t: fpu hypervisor lahf\n"));
        assert!(!is_virtual("flags\t\t: fpu\nbugs\t: hypervisor\n"));
        assert!(!is_virtual(""));
    }

    #[test]
    fn rings_are_a_power_of_two() {
        assert!(default_ring_pages().is_power_of_two());
    }
}
