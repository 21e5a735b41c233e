//! CPUs of `-C` that are not there, or on which an event is not counted; the threads that are there.

use std::path::Path;

use oxperf_abi::Tid;
use oxperf_capture::synthesize::ProcDir;
use oxperf_capture::{EventRequest, Target};
use oxperf_sys::cpus;

use super::options::StatCommand;
use crate::cmd::ranges::ranges;

/// What is counted on the CPUs that are there.
pub(super) struct Online {
    /// The target without CPUs that are offline.
    pub(super) target: Target,
    /// What is said about each event that is not counted on all CPUs of the list.
    pub(super) warnings: Vec<String>,
}

/// Leaves out the CPUs of the list that are offline; `None` where the target is no list of CPUs.
pub(super) fn without_offline(command: &StatCommand, requests: &[EventRequest]) -> Option<Online> {
    let (Target::Cpus(asked), Some(list)) = (&command.options.target.target, &command.cpu_list)
    else {
        return None;
    };
    let online = cpus::online_in(&command.options.sysfs).ok()?;
    let warning = |request: &EventRequest| {
        let own = request.cpus.as_ref().filter(|_| !request.of_system);
        let counted = own.unwrap_or(&online);
        let is_missing = asked.iter().any(|cpu| !counted.contains(cpu));
        is_missing.then(|| {
            format!(
                "WARNING: A requested CPU in '{list}' is not supported by PMU '{}' (CPUs {}) for event '{}'",
                request.pmu,
                ranges(counted.iter().map(|cpu| cpu.0)),
                request.name
            )
        })
    };
    Some(Online {
        target: Target::Cpus(
            asked
                .iter()
                .copied()
                .filter(|cpu| online.contains(cpu))
                .collect(),
        ),
        warnings: requests.iter().filter_map(warning).collect(),
    })
}

/// All threads of the system, rising.
pub(super) fn all_threads() -> Vec<Tid> {
    let proc = ProcDir::new(Path::new("/proc"));
    let processes = proc.processes().into_iter();
    let mut threads: Vec<Tid> = processes
        .flat_map(|process| proc.threads(process))
        .collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}
