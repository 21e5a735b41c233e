//! The events that every machine has: the kernel's software events, and what tools know without counters.

use super::Gathered;
use super::legacy::short_number;
use crate::{CountableEvent, EventCategory};
use oxperf_abi::{EventType, SoftwareId};

/// Events of the PMU `tool`: name, number, description.
const TOOL: &[(&str, u64, &str)] = &[
    ("duration_time", 1, "Time that passed, in nanoseconds"),
    ("user_time", 2, "Time in user space, in nanoseconds"),
    ("system_time", 3, "Time in the kernel, in nanoseconds"),
    ("has_pmem", 4, "1 with persistent memory, else 0"),
    (
        "num_cores",
        5,
        "Number of cores; each has one thread of execution or more",
    ),
    (
        "num_cpus",
        6,
        "Number of CPUs, those that are offline among them",
    ),
    ("num_cpus_online", 7, "Number of CPUs that are online"),
    ("num_dies", 8, "Number of dies"),
    ("num_packages", 9, "Number of packages"),
    #[cfg(target_arch = "aarch64")]
    ("slots", 10, "Instructions that can be issued in a cycle"),
    (
        "smt_on",
        11,
        "1 if cores run several threads at once, else 0",
    ),
    #[cfg(target_arch = "x86_64")]
    (
        "system_tsc_freq",
        12,
        "Ticks of the time stamp counter a second",
    ),
    (
        "core_wide",
        13,
        "1 if all threads of each core are counted, else 0",
    ),
    ("target_cpu", 14, "1 if CPUs are counted, 0 if tasks are"),
];

/// Adds them.
pub(super) fn gather(gathered: &mut Vec<Gathered>) {
    for id in SoftwareId::ALL {
        let events = id.names().iter().map(|name| software(*id, name));
        gathered.extend(events);
    }
    let tools = TOOL
        .iter()
        .map(|(name, config, brief)| standing("tool", None, name, *config, brief));
    gathered.extend(tools);
}

fn software(id: SoftwareId, name: &str) -> Gathered {
    let kind = Some(EventType::SOFTWARE);
    let mut gathered = standing("software", kind, name, id as u64, software_brief(id));
    if matches!(id, SoftwareId::CpuClock | SoftwareId::TaskClock) {
        gathered.event.scale_unit = Some((1e-6, "msec".to_owned()));
    }
    gathered
}

fn standing(
    pmu: &'static str,
    kind: Option<EventType>,
    name: &str,
    config: u64,
    brief: &str,
) -> Gathered {
    Gathered {
        plain_name: name.to_owned(),
        event: CountableEvent {
            unit: Some(pmu.into()),
            pmu_kind: kind,
            topic: Some(pmu.to_owned()),
            brief: Some(brief.to_owned()),
            encoding: Some(format!("{pmu}/config={}/", short_number(config))),
            ..CountableEvent::named(EventCategory::Pmu, name.to_owned())
        },
        is_described: true,
        is_core: false,
        pmu: pmu.into(),
    }
}

fn software_brief(id: SoftwareId) -> &'static str {
    match id {
        SoftwareId::CpuClock => "Time of a CPU, by a timer",
        SoftwareId::TaskClock => "Time that a task ran, by a timer",
        SoftwareId::PageFaults => "Page faults",
        SoftwareId::ContextSwitches => "Context switches",
        SoftwareId::CpuMigrations => "Moves of tasks to another CPU",
        SoftwareId::PageFaultsMin => "Page faults that needed no I/O",
        SoftwareId::PageFaultsMaj => "Page faults that needed I/O",
        SoftwareId::AlignmentFaults => "Unaligned accesses that the kernel mended",
        SoftwareId::EmulationFaults => "Instructions that the kernel emulated",
        SoftwareId::Dummy => "Counts nothing",
        SoftwareId::BpfOutput => "Output of BPF programs",
        SoftwareId::CgroupSwitches => "Switches to a task of another cgroup",
    }
}
