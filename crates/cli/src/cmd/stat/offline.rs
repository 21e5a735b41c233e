//! CPUs of `-C` that are not there, or on which an event is not counted; the threads that are there.

use std::path::Path;

use oxperf_abi::{Cpu, Tid};
use oxperf_capture::synthesize::ProcDir;
use oxperf_capture::{EventRequest, Target};
use oxperf_sys::cpus;

use super::options::StatCommand;

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
                ranges(counted),
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

/// Rising CPUs as the kernel writes them: `0-1,4`.
pub(super) fn ranges(cpus: &[Cpu]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == cpu.0 => *last = cpu.0,
            _ => runs.push((cpu.0, cpu.0)),
        }
    }
    let text = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.into_iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_as_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 4, 6, 7].map(Cpu)), "0-2,4,6-7");
        assert_eq!(ranges(&[]), "");
    }
}
