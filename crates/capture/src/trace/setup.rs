//! From requests with a trace among them to those that are planned: complete terms, areas, and the events that tell a decoder
//! which task and which code was traced.

use oxperf_abi::{AttrFlags, EventType, SoftwareId};
use oxperf_sys::{EventTask, Kernel, OpenError, OpenRequest, Sysfs};
use oxperf_tracepoint::{SystemTracefs, Tracefs};

use super::intel_pt::{self, IntelPt};
use super::sizes::SizeFacts;
use super::{TraceError, groups};
use crate::event::EventRequest;
use crate::explain::Permissions;
use crate::kernel_code;
use crate::notice::{Notice, Observer};
use crate::options::{BuildIdPolicy, RecordOptions, Target, TraceSwitches, TracedSampling};

/// The part of the trace that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TraceKept {
    /// All of it, as it comes.
    Whole,
    /// The newest, at moments that somebody chooses.
    Newest {
        /// Bytes of a snapshot.
        size: usize,
        /// One is also taken at the end.
        at_exit: bool,
    },
    /// The kernel copies pieces into samples.
    InSamples,
}

/// How a decoder knows which task was traced: the number that `AUXTRACE_INFO` has for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SwitchInfo {
    /// It does not.
    None = 0,
    /// Samples of the kernel's tracepoint for it.
    Tracepoint = 1,
    /// Records of the tasks that begin and cease to run, of the target's.
    OfTarget = 2,
    /// The same, of all tasks of a CPU.
    OfCpu = 3,
}

/// All that a recording of a trace needs to know of it.
#[derive(Clone, Debug)]
pub(crate) struct TraceSetup {
    pub(crate) pmu: IntelPt,
    pub(crate) kept: TraceKept,
    /// Bytes of an area.
    pub(crate) area: usize,
    /// Pages of the ring beside it, unless the user names some.
    pub(crate) ring_pages: Option<usize>,
    /// Bytes of trace between two PSB packets.
    pub(crate) psb_bytes: u64,
    /// The trace tells time.
    pub(super) has_time: bool,
    pub(crate) switches: SwitchInfo,
    /// The switches of all tasks are told by an event of their own: the target's tells those of the target alone.
    pub(crate) switches_apart: bool,
    /// A ring belongs to a CPU.
    pub(crate) per_cpu: bool,
}

/// What a trace is set up from.
#[derive(Clone, Copy)]
pub(crate) struct TraceInputs<'a> {
    pub(crate) options: &'a RecordOptions,
    pub(crate) sysfs: &'a Sysfs,
    pub(crate) permissions: Permissions,
    /// Kernels before 4.3 do not record switches of tasks.
    pub(crate) kernel_tells_switches: bool,
}

/// The requests, complete, with the setup of the trace that is among them.
pub(crate) type SetUp = (Vec<EventRequest>, Option<TraceSetup>);

/// Completes `requests` for the trace that is among them, if there is one.
///
/// # Errors
/// It cannot be recorded as it is asked for.
pub(crate) fn set_up(
    mut requests: Vec<EventRequest>,
    inputs: TraceInputs<'_>,
    observer: &mut dyn Observer,
) -> Result<SetUp, TraceError> {
    let options = &inputs.options.trace;
    groups::arrange(&mut requests, options)?;
    let Some(place) = place_of_trace(&requests)? else {
        return match options.snapshot {
            Some(_) => Err(TraceError::NothingToSnapshot),
            None => Ok((requests, None)),
        };
    };
    check_neighbours(&requests, inputs)?;
    let setup = complete(&mut requests, place, inputs, observer)?;
    let mut requests = groups::to_front(requests, place);
    add_watchers(&mut requests, &setup, inputs);
    Ok((requests, Some(setup)))
}

/// The only event of Intel PT, if there is one.
fn place_of_trace(requests: &[EventRequest]) -> Result<Option<usize>, TraceError> {
    let mut traces = (0..requests.len()).filter(|&place| is_intel_pt(&requests[place]));
    let place = traces.next();
    match traces.next() {
        Some(_) => Err(TraceError::Several),
        None => Ok(place),
    }
}

/// Finds out whether options and other events let the trace be.
fn check_neighbours(requests: &[EventRequest], inputs: TraceInputs<'_>) -> Result<(), TraceError> {
    let sampling = &inputs.options.sampling;
    let keeps_newest = |own: &EventRequest| own.overwrite.unwrap_or(sampling.overwrite);
    if inputs.options.trace.snapshot.is_some() && requests.iter().any(groups::samples_trace) {
        Err(TraceError::SnapshotAndSamples)
    } else if sampling.clock.is_some() {
        Err(TraceError::Clock)
    } else if requests.iter().any(keeps_newest) {
        Err(TraceError::Overwrite)
    } else {
        Ok(())
    }
}

/// Completes the event of the trace at `place`.
fn complete(
    requests: &mut [EventRequest],
    place: usize,
    inputs: TraceInputs<'_>,
    observer: &mut dyn Observer,
) -> Result<TraceSetup, TraceError> {
    let samples = requests.iter().filter(|own| groups::samples_trace(own));
    let samples: Vec<u32> = samples.filter_map(|own| own.aux.sample_size).collect();
    let pmu = IntelPt::of(inputs.sysfs);
    let request = &mut requests[place];
    let psb_bytes = complete_terms(&pmu, request, !samples.is_empty(), observer)?;
    let facts = SizeFacts {
        options: &inputs.options.trace,
        samples,
        psb_bytes,
        privileged: has_memory(inputs.permissions),
    };
    let sizes = facts.choose(observer)?;
    if sizes.kept == TraceKept::Whole {
        request.attr.aux_watermark = u32::try_from(sizes.area / 4).unwrap_or(u32::MAX);
    }
    let target = &inputs.options.target;
    let has_time = request.attr.config & pmu.bits("tsc") != 0;
    let switches = switches(has_time, inputs);
    let setup = TraceSetup {
        kept: sizes.kept,
        area: sizes.area,
        ring_pages: sizes.ring_pages,
        psb_bytes,
        has_time,
        switches,
        switches_apart: match switches {
            SwitchInfo::Tracepoint => true,
            SwitchInfo::OfCpu => !target.target.is_cpu_wide(),
            SwitchInfo::None | SwitchInfo::OfTarget => false,
        },
        per_cpu: !target.follows_tasks(),
        pmu,
    };
    if setup.leaves_tasks_unknown(&target.target) && !request.traces_kernel_alone() {
        observer.notice(Notice::TracedTasksUnknown);
    }
    Ok(setup)
}

fn is_intel_pt(request: &EventRequest) -> bool {
    &*request.pmu == intel_pt::NAME
}

/// Gives the event of a trace all bits that its user left out; returns the bytes of trace between two PSB packets.
fn complete_terms(
    pmu: &IntelPt,
    request: &mut EventRequest,
    in_samples: bool,
    observer: &mut dyn Observer,
) -> Result<u64, TraceError> {
    let attr = &mut request.attr;
    let complete = pmu.complete(attr.config, request.aux.named_bits, in_samples)?;
    if complete.forced {
        observer.notice(Notice::TraceForced);
    }
    attr.config = complete.config;
    attr.flags
        .set(AttrFlags::EXCLUDE_GUEST, pmu.leaves_guests_out());
    Ok(pmu.psb_bytes(complete.config))
}

/// Returns whether the memory of rings is not limited for this process.
fn has_memory(permissions: Permissions) -> bool {
    permissions.privileged || permissions.paranoid.is_some_and(|value| value < 0)
}

/// Returns whether this process may see what other tasks do.
fn may_watch_all(permissions: Permissions) -> bool {
    permissions.privileged || permissions.paranoid.is_some_and(|value| value <= 0)
}

/// Tasks are told apart by time, where there are several in the trace of a CPU.
fn switches(has_time: bool, inputs: TraceInputs<'_>) -> SwitchInfo {
    let (options, target) = (&inputs.options.trace, &inputs.options.target);
    match options.switches {
        _ if !has_time || target.follows_tasks() => SwitchInfo::None,
        TraceSwitches::Never => SwitchInfo::None,
        _ if !inputs.kernel_tells_switches => SwitchInfo::Tracepoint,
        TraceSwitches::OfAll if may_watch_all(inputs.permissions) => SwitchInfo::OfCpu,
        TraceSwitches::OfAll | TraceSwitches::OfTarget if target.target.is_cpu_wide() => {
            SwitchInfo::OfCpu
        }
        TraceSwitches::OfAll | TraceSwitches::OfTarget => SwitchInfo::OfTarget,
    }
}

/// Adds the events that tell which tasks and which code was traced, behind all others.
fn add_watchers(requests: &mut Vec<EventRequest>, setup: &TraceSetup, inputs: TraceInputs<'_>) {
    let mut of_code = requests.extract_if(.., |own| own.is_text_poke());
    let asked = of_code.next();
    drop(of_code);
    match setup.switches {
        SwitchInfo::Tracepoint => requests.extend(sched_switch()),
        _ if setup.switches_apart => requests.push(EventRequest::switch_watcher()),
        _ => {}
    }
    requests.push(EventRequest::tracking_dummy());
    let traces_kernel = requests
        .first()
        .is_some_and(|trace| !trace.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
    // What changed when is told by time.
    let is_wanted = traces_kernel && setup.has_time && may_watch_all(inputs.permissions);
    let own = || is_wanted.then(kernel_code::request);
    requests.extend(asked.or_else(own));
}

impl TraceSetup {
    /// Returns whether the trace of a CPU is of several tasks, and nothing tells which.
    fn leaves_tasks_unknown(&self, target: &Target) -> bool {
        self.switches == SwitchInfo::None && self.per_cpu && *target != Target::Workload
    }

    /// Completes the options of the recording: what samples have for the decoder, and that nobody knows before it what was
    /// hit.
    pub(crate) fn complete(&self, options: &mut RecordOptions) {
        options.sampling.traced = Some(TracedSampling {
            switches: self.switches != SwitchInfo::None && !self.switches_apart,
        });
        options.output.has_traces = true;
        if options.output.build_ids == BuildIdPolicy::Hit {
            options.output.build_ids = BuildIdPolicy::All;
        }
    }
}

/// Returns whether the kernel takes an event that tells when tasks begin and cease to run.
pub(crate) fn tells_switches(kernel: &dyn Kernel) -> bool {
    let attr = EventRequest::switch_watcher().attr;
    let opened = kernel.open(&OpenRequest::new(&attr, EventTask::Caller));
    !matches!(opened, Err(OpenError::Invalid | OpenError::TooNew))
}

/// The tracepoint of switches; none where its number cannot be read.
fn sched_switch() -> Option<EventRequest> {
    const NAME: (&str, &str) = ("sched", "sched_switch");
    let tracefs = SystemTracefs::find().ok()?;
    let mut request = EventRequest::software(SoftwareId::Dummy, "sched:sched_switch");
    request.attr.kind = EventType::TRACEPOINT;
    request.attr.config = tracefs.id(NAME.0, NAME.1).ok()?;
    request.pmu = "tracepoint".into();
    request.tracepoint = Some((NAME.0.to_owned(), NAME.1.to_owned()));
    request.watches_system = true;
    Some(request)
}

impl EventRequest {
    /// The event that tells when each task of the system begins and ceases to run.
    fn switch_watcher() -> EventRequest {
        let mut request = EventRequest::software(SoftwareId::Dummy, "dummy:u");
        request.attr.flags = AttrFlags::EXCLUDE_KERNEL
            | AttrFlags::EXCLUDE_HV
            | AttrFlags::EXCLUDE_GUEST
            | AttrFlags::CONTEXT_SWITCH;
        request.watches_system = true;
        request
    }
}

#[cfg(test)]
mod tests;
