//! The tasks and CPUs that exist, of those that the user names.

use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_sys::{Sysfs, cpus};

use crate::error::CaptureError;
use crate::notice::{Notice, Observer};
use crate::options::Target;
use crate::plan::MachineInfo;
use crate::synthesize::ProcDir;

/// Looks up the target's threads and the CPUs that are online.
///
/// # Errors
/// None of the named tasks exists, or a named CPU is not online.
pub(crate) fn machine_info(
    target: &Target,
    sysfs: &Sysfs,
    proc: &ProcDir,
    observer: &mut dyn Observer,
) -> Result<MachineInfo, CaptureError> {
    let online = cpus::online_in(sysfs).map_err(CaptureError::Cpus)?;
    let threads = match target {
        Target::Processes(pids) => threads_of(pids, proc, observer),
        Target::Threads(tids) => tids.clone(),
        Target::Cpus(wanted) => {
            check_online(wanted, &online)?;
            Vec::new()
        }
        Target::Workload | Target::AllCpus => Vec::new(),
    };
    if matches!(target, Target::Processes(_) | Target::Threads(_)) && threads.is_empty() {
        return Err(CaptureError::NoSuchProcess);
    }
    Ok(MachineInfo {
        online,
        threads,
        is_hybrid: false,
    })
}

/// The threads of all processes; one that is gone is reported, unless all are, which is an error of its own.
fn threads_of(pids: &[Pid], proc: &ProcDir, observer: &mut dyn Observer) -> Vec<Tid> {
    let (found, gone): (Vec<_>, Vec<_>) = pids
        .iter()
        .map(|&pid| (pid, proc.threads(pid)))
        .partition(|(_, threads)| !threads.is_empty());
    if !found.is_empty() {
        gone.iter()
            .for_each(|(pid, _)| observer.notice(Notice::ThreadGone(Tid(pid.0))));
    }
    let mut threads: Vec<Tid> = found.into_iter().flat_map(|(_, threads)| threads).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

fn check_online(wanted: &[Cpu], online: &[Cpu]) -> Result<(), CaptureError> {
    match wanted.iter().find(|cpu| !online.contains(cpu)) {
        Some(&cpu) => Err(CaptureError::CpuOffline {
            cpu,
            online: list(online),
        }),
        None => Ok(()),
    }
}

fn list(cpus: &[Cpu]) -> String {
    cpus.iter()
        .map(Cpu::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
