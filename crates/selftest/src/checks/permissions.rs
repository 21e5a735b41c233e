//! What this user may measure.

use oxperf_abi::{AttrFlags, Cpu, EventAttr, SoftwareId};
use oxperf_sys::{EventTask, Kernel, OpenError, OpenRequest, RealKernel, cpus, limits};

use crate::events::{self, software};
use crate::trial::ensure;
use crate::{Shortfall, Trial};

/// `/proc/sys/kernel/NAME` as a number.
fn setting(name: &str) -> Result<i64, Shortfall> {
    let path = format!("/proc/sys/kernel/{name}");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Shortfall::skip(format!("{path}: {error}")))?;
    text.trim()
        .parse()
        .map_err(|_| Shortfall::failure(format!("{path} holds no number: {}", text.trim())))
}

fn denied(error: OpenError) -> Shortfall {
    match error {
        OpenError::AccessDenied | OpenError::NotPermitted => {
            let level = setting("perf_event_paranoid")
                .map_or_else(|_| "unknown".to_owned(), |level| level.to_string());
            Shortfall::failure(format!("{error}; perf_event_paranoid is {level}"))
        }
        OpenError::NotImplemented => Shortfall::failure(error),
        other => events::refused(other),
    }
}

/// The program's own threads may be measured in user mode.
pub(crate) fn own_threads(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    trial.note(format_args!(
        "perf_event_paranoid is {}",
        setting("perf_event_paranoid")?
    ));
    let attr = software(SoftwareId::TaskClock);
    RealKernel
        .open(&OpenRequest::new(&attr, EventTask::Caller))
        .map(drop)
        .map_err(denied)
}

/// Kernel mode may be measured, too.
pub(crate) fn kernel_mode(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::TaskClock);
    attr.flags = AttrFlags::DISABLED;
    RealKernel
        .open(&OpenRequest::new(&attr, EventTask::Caller))
        .map(drop)
        .map_err(denied)
}

/// Everything on a CPU may be measured.
pub(crate) fn whole_cpus(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let online = cpus::online().map_err(Shortfall::failure)?;
    let attr = software(SoftwareId::CpuClock);
    for cpu in online {
        open_on(&attr, cpu)?;
        trial.note(format_args!("cpu {cpu}: allowed"));
    }
    Ok(())
}

fn open_on(attr: &EventAttr, cpu: Cpu) -> Result<(), Shortfall> {
    let request = OpenRequest {
        cpu: Some(cpu),
        ..OpenRequest::new(attr, EventTask::Any)
    };
    RealKernel.open(&request).map(drop).map_err(denied)
}

/// One ring of the usual size for each CPU is within the limit of locked memory.
pub(crate) fn ring_sizes(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    trial.note(format_args!(
        "perf_event_mlock_kb is {}",
        setting("perf_event_mlock_kb")?
    ));
    let online = cpus::online().map_err(Shortfall::failure)?;
    let attr = software(SoftwareId::TaskClock);
    let mut held = Vec::new();
    for cpu in online {
        let request = OpenRequest {
            cpu: Some(cpu),
            ..OpenRequest::new(&attr, EventTask::Caller)
        };
        let event = RealKernel.open(&request).map_err(events::refused)?;
        let ring = events::map(&event, 128)?;
        held.push((event, ring));
    }
    Ok(())
}

/// The usual rate of samples is allowed.
pub(crate) fn sample_rate(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    let limit = setting("perf_event_max_sample_rate")?;
    ensure(
        limit >= 4000,
        format!("perf_event_max_sample_rate is {limit}, below the usual 4000"),
    )
}

/// Chains of the usual depth are allowed.
pub(crate) fn stack_depth(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    let limit = setting("perf_event_max_stack")?;
    ensure(
        limit >= 127,
        format!("perf_event_max_stack is {limit}, below the usual 127"),
    )
}

/// A recorder may have enough files open: some for each CPU and each thread of a large target.
pub(crate) fn open_files(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let limit = limits::raise_open_files().map_err(Shortfall::failure)?;
    let online = cpus::online().map_err(Shortfall::failure)?.len() as u64;
    trial.note(format_args!("{limit} files, {online} CPUs"));
    ensure(
        limit >= 64 + 8 * online,
        format!("{limit} files are too few for {online} CPUs"),
    )
}
