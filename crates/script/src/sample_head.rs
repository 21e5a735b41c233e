//! The head of a sample's line: thread, time and event.

use oxperf_abi::{Misc, RecordType};
use oxperf_present::script::{FieldSet, Head};

use crate::view::SampleView;

/// The head of a sample, with its thread's name as it is to be shown; the time of day is added by the caller.
pub(crate) fn sample_head<'a>(view: &SampleView<'a>, comm: &'a str) -> Head<'a> {
    let shows = |field| view.style.fields.contains(field);
    let sample = view.sample();
    // A sample that was made of hardware trace was never a record.
    let misc = match view.traced() {
        Some(_) => Misc(0),
        None => view.event.misc,
    };
    Head {
        comm: shows(FieldSet::COMM).then_some(comm),
        pid: shows(FieldSet::PID).then(|| view.pid()),
        tid: shows(FieldSet::TID).then(|| view.tid()),
        cpu: shows(FieldSet::CPU).then(|| sample.cpu.map(|cpu| cpu.0)),
        misc: shows(FieldSet::MISC).then_some((RecordType::SAMPLE, misc)),
        time_of_day: None,
        time: sample
            .time
            .map(|time| time.0)
            .filter(|_| shows(FieldSet::TIME)),
        period: shows(FieldSet::PERIOD).then_some(view.event.period),
        event: shows(FieldSet::EVENT).then_some(view.style.name.as_str()),
    }
}
