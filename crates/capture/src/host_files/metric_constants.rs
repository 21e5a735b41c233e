//! The constants of metric expressions: `#smt_on`, `#num_dies` and others.

use std::collections::BTreeSet;

use oxperf_metric::MachineConstants;
use oxperf_sys::cpus::CpuRanges;
use oxperf_sys::tsc_frequency;

use super::topology::available_cpus;
use super::tree::Tree;

/// What is counted, as far as constants depend on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetricScope {
    /// Whether the whole system is counted (`-a`), or what is left of it by `cpus`.
    pub system_wide: bool,
    /// The CPUs that were named (`-C`).
    pub cpus: Option<CpuRanges>,
    /// The core PMU, whose folder tells its issue slots.
    pub core_pmu: Option<String>,
}

pub(super) fn collect(tree: &Tree, scope: &MetricScope) -> MachineConstants {
    let cores = siblings(tree, "core_cpus_list");
    let count = |sets: &BTreeSet<String>| (!sets.is_empty()).then_some(sets.len() as u32);
    let cpus = |name: &str| tree.cpus(&format!("sys/devices/system/cpu/{name}"));
    let smt_on = smt_on(tree, &cores);
    MachineConstants {
        num_cpus: cpus("present").map(|cpus| cpus.len() as u32),
        num_cpus_online: cpus("online").map(|cpus| cpus.len() as u32),
        num_cores: count(&cores),
        num_dies: count(&siblings(tree, "die_cpus_list")),
        num_packages: count(&siblings(tree, "package_cpus_list")),
        smt_on,
        core_wide: scope.system_wide
            && (!smt_on
                || scope
                    .cpus
                    .as_ref()
                    .is_none_or(|cpus| has_whole_cores(cpus, &cores))),
        target_cpu: scope.system_wide || scope.cpus.is_some(),
        has_pmem: tree.exists("sys/firmware/acpi/tables/NFIT"),
        slots: scope.core_pmu.as_deref().and_then(|pmu| slots(tree, pmu)),
        system_tsc_freq: tsc_frequency(),
    }
}

/// The distinct lists of CPUs that share something.
fn siblings(tree: &Tree, name: &str) -> BTreeSet<String> {
    let cpus = 0..available_cpus(tree).unwrap_or(0);
    let list = |cpu| tree.text(&format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}"));
    cpus.filter_map(list).collect()
}

/// As the kernel says; where it does not, whether any core has several CPUs.
fn smt_on(tree: &Tree, cores: &BTreeSet<String>) -> bool {
    let active: Option<u32> = tree.number("sys/devices/system/cpu/smt/active");
    active.map_or_else(
        || cores.iter().any(|core| core.contains([',', '-'])),
        |active| active != 0,
    )
}

/// Returns whether of every core all CPUs are in the list, or none.
fn has_whole_cores(cpus: &CpuRanges, cores: &BTreeSet<String>) -> bool {
    cores.iter().all(|core| {
        let threads = oxperf_sys::cpus::parse_list(core).unwrap_or_default();
        let counted = threads.iter().filter(|cpu| cpus.contains(**cpu)).count();
        counted == 0 || counted == threads.len()
    })
}

/// The issue slots that an Arm core PMU tells, in hexadecimal.
fn slots(tree: &Tree, pmu: &str) -> Option<u32> {
    let text = tree.text(&format!("sys/bus/event_source/devices/{pmu}/caps/slots"))?;
    let slots = u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()?;
    (slots != 0).then_some(slots)
}

#[cfg(test)]
mod tests {
    use super::super::testing::FakeHost;
    use super::*;

    /// Two sockets of two cores with two CPUs each.
    fn host(smt: Option<&str>) -> FakeHost {
        let cpu = "sys/devices/system/cpu";
        let mut files = vec![
            (format!("{cpu}/present"), "0-7\n".to_owned()),
            (format!("{cpu}/online"), "0-6\n".to_owned()),
            (
                "sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots".to_owned(),
                "0x00000008\n".to_owned(),
            ),
            ("sys/firmware/acpi/tables/NFIT".to_owned(), "x".to_owned()),
        ];
        for number in 0..8 {
            let (core, package) = (number % 4, number % 2);
            let topology = format!("{cpu}/cpu{number}/topology");
            files.push((
                format!("{topology}/core_cpus_list"),
                format!("{core},{}\n", core + 4),
            ));
            let socket = format!(
                "{package},{},{},{}\n",
                package + 2,
                package + 4,
                package + 6
            );
            files.push((format!("{topology}/die_cpus_list"), socket.clone()));
            files.push((format!("{topology}/package_cpus_list"), socket));
        }
        files.extend(smt.map(|active| (format!("{cpu}/smt/active"), active.to_owned())));
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        FakeHost::new(&files)
    }

    fn scope(system_wide: bool, cpus: Option<&str>) -> MetricScope {
        MetricScope {
            system_wide,
            cpus: cpus.map(|list| CpuRanges::parse(list).unwrap()),
            core_pmu: None,
        }
    }

    #[test]
    fn counts_of_what_there_is() {
        let constants = collect(&host(None).tree(), &MetricScope::default());
        assert_eq!(
            (constants.num_cpus, constants.num_cpus_online),
            (Some(8), Some(7))
        );
        assert_eq!(
            (
                constants.num_cores,
                constants.num_dies,
                constants.num_packages
            ),
            (Some(4), Some(2), Some(2))
        );
        assert!(constants.smt_on && constants.has_pmem && !constants.target_cpu);
        assert_eq!(constants.slots, None);
        let arm = MetricScope {
            core_pmu: Some("armv8_pmuv3_0".into()),
            ..MetricScope::default()
        };
        assert_eq!(collect(&host(None).tree(), &arm).slots, Some(8));
        let nothing = collect(&FakeHost::new(&[]).tree(), &MetricScope::default());
        assert_eq!(
            (
                nothing.num_cpus,
                nothing.num_cores,
                nothing.smt_on,
                nothing.has_pmem
            ),
            (None, None, false, false)
        );
    }

    #[test]
    fn the_kernel_says_whether_threads_share_cores() {
        assert!(!collect(&host(Some("0\n")).tree(), &MetricScope::default()).smt_on);
        assert!(collect(&host(Some("1\n")).tree(), &MetricScope::default()).smt_on);
    }

    #[test]
    fn whole_cores() {
        // `perf7 stat -e core_wide,target_cpu` with the same options.
        let constants = |smt, system_wide, cpus| {
            let constants = collect(&host(Some(smt)).tree(), &scope(system_wide, cpus));
            (constants.core_wide, constants.target_cpu)
        };
        assert_eq!(constants("1\n", false, None), (false, false));
        assert_eq!(constants("1\n", false, Some("0,4")), (false, true));
        assert_eq!(constants("1\n", true, None), (true, true));
        assert_eq!(constants("1\n", true, Some("0")), (false, true));
        assert_eq!(constants("1\n", true, Some("0,4")), (true, true));
        assert_eq!(constants("0\n", true, Some("0")), (true, true));
    }
}
