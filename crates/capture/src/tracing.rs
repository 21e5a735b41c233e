//! The formats of the recorded tracepoints, for readers on other machines.

use oxperf_sys::process;
use oxperf_tracepoint::{SystemTracefs, TracepointError, TracingData};

use crate::notice::{Notice, Observer};
use crate::plan::Plan;

/// Reads the formats of the plan's tracepoints; `None` when there are none, or when they cannot be read.
pub(crate) fn collect(plan: &Plan, observer: &mut dyn Observer) -> Option<Vec<u8>> {
    let names: Vec<(&str, &str)> = plan
        .events
        .iter()
        .filter_map(|event| event.request.tracepoint())
        .collect();
    if names.is_empty() {
        return None;
    }
    read(&names)
        .map_err(|error| observer.notice(Notice::TracingDataMissing(error)))
        .ok()
}

fn read(names: &[(&str, &str)]) -> Result<Vec<u8>, TracepointError> {
    let page_size = u32::try_from(process::page_size()).unwrap_or(4096);
    Ok(TracingData::collect(&SystemTracefs::find()?, names, page_size)?.encode())
}
