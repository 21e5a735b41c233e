//! What stands before the places of a sample: who, when, and what it says of memory.

use oxperf_abi::{DataSource, Misc, RecordType};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::script::{Access, FieldSet, Head};
use oxperf_session::SampleEvent;
use oxperf_wire::{Sample, SampleWeight};

use super::view::EventView;

pub(super) fn head<'a>(
    view: &'a EventView,
    comm: &'a str,
    machine: &Machine,
    event: &SampleEvent<'_>,
) -> Head<'a> {
    let shows = |field| view.fields.contains(field);
    let (pid, tid) = ids(machine, event.thread);
    Head {
        comm: shows(FieldSet::COMM).then_some(comm),
        pid: pid.filter(|_| shows(FieldSet::PID)),
        tid: tid.filter(|_| shows(FieldSet::TID)),
        cpu: event
            .sample
            .cpu
            .map(|cpu| cpu.0)
            .filter(|_| shows(FieldSet::CPU)),
        // What was made of hardware trace was never a record.
        misc: shows(FieldSet::MISC).then_some(match event.traced {
            Some(_) => (RecordType::SAMPLE, Misc(0)),
            None => (RecordType::SAMPLE, event.misc),
        }),
        time_of_day: None,
        time: event
            .sample
            .time
            .map(|time| time.0)
            .filter(|_| shows(FieldSet::TIME)),
        period: shows(FieldSet::PERIOD).then_some(event.period),
        event: shows(FieldSet::EVENT).then_some(view.name.as_str()),
    }
}

fn ids(machine: &Machine, thread: ThreadId) -> (Option<i32>, Option<i32>) {
    let thread = machine.thread_info(thread);
    (Some(thread.pid.map_or(-1, |pid| pid.0)), Some(thread.tid.0))
}

/// What a sample says of the access to memory that it stands for.
pub(super) fn access(sample: &Sample<'_>) -> Access {
    let (weight, ins_lat, retire_lat) = match sample.weight {
        Some(SampleWeight::Whole(weight)) => (weight, 0, 0),
        Some(SampleWeight::Parts { var1, var2, var3 }) => (u64::from(var1), var2, var3),
        None => (0, 0, 0),
    };
    Access {
        source: DataSource(sample.data_src.unwrap_or(0)),
        weight,
        ins_lat,
        retire_lat,
        phys_addr: sample.phys_addr.unwrap_or(0),
        data_page_size: sample.data_page_size.unwrap_or(0),
        code_page_size: sample.code_page_size.unwrap_or(0),
    }
}
