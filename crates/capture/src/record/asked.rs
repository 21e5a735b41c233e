//! What a recording is asked for, made complete: events that have samples, a rate that the system allows, a hardware trace.

use oxperf_sys::Kernel;

use crate::acquire::without_event;
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::notice::{Notice, Observer};
use crate::options::{Draining, Rate, RecordOptions};
use crate::system;
use crate::trace::{self, TraceInputs, TraceSetup};

/// The requests and options of a recording that may have a hardware trace, complete for that.
///
/// # Errors
/// It cannot be recorded as it is asked for.
pub(super) fn with_trace(
    kernel: &dyn Kernel,
    requests: Vec<EventRequest>,
    mut options: RecordOptions,
    observer: &mut dyn Observer,
) -> Result<(Vec<EventRequest>, Option<TraceSetup>, RecordOptions), CaptureError> {
    let inputs = TraceInputs {
        options: &options,
        sysfs: &options.sysfs,
        permissions: system::permissions(),
        // Without a trace nobody asks.
        kernel_tells_switches: !requests.iter().any(|own| own.aux.is_traced)
            || trace::tells_switches(kernel),
    };
    let (requests, trace) = trace::set_up(requests, inputs, observer)?;
    if let Some(setup) = &trace {
        if matches!(options.draining, Draining::Threads(_)) {
            return Err(CaptureError::ThreadsOfTrace);
        }
        setup.complete(&mut options);
    }
    Ok((requests, trace, options))
}

/// The events that the kernel counts; the others have values and no samples.
pub(super) fn openable(
    mut requests: Vec<EventRequest>,
    observer: &mut dyn Observer,
) -> Result<Vec<EventRequest>, CaptureError> {
    while let Some(place) = requests.iter().position(|one| !one.is_counted_by_kernel()) {
        let (event, pmu) = (
            requests[place].name.clone(),
            requests[place].pmu.to_string(),
        );
        requests = without_event(&requests, place);
        if requests.is_empty() {
            return Err(CaptureError::NotCounted { event, pmu });
        }
        observer.notice(Notice::NotCounted { event, pmu });
    }
    Ok(requests)
}

/// The options with a rate that the system allows.
///
/// # Errors
/// It does not allow the rate, and the user wants no other.
pub(super) fn with_allowed_rate(
    options: &RecordOptions,
    observer: &mut dyn Observer,
) -> Result<RecordOptions, CaptureError> {
    let asked = options.sampling.rate.unwrap_or(Rate::DEFAULT);
    let (allowed, limit) = system::allowed_rate(asked, system::max_sample_rate());
    let mut options = options.clone();
    if let Some(limit) = limit {
        if options.sampling.strict_rate {
            return Err(CaptureError::RateLimit { limit });
        }
        observer.notice(Notice::RateLimited { asked, limit });
        options.sampling.rate = Some(allowed);
    }
    Ok(options)
}
