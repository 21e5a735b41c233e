//! The records that stand before all others and describe the recording itself: which id belongs to which CPU and
//! thread, what the counts mean, which tasks and CPUs were watched.

use oxperf_abi::{Cpu, EventId, RecordType, Tid};
use oxperf_sys::TimeConversion;
use oxperf_wire::Encoder;
use oxperf_wire::user::{
    IdIndex, IdIndexEntry, ThreadMap, ThreadMapEntry, TimeConv, TimeConvExtended,
};

use crate::open::{OpenEvent, OpenEvents};
use crate::plan::{OpenSite, Plan, PlannedEvent, TargetTask};
use crate::synthesize::{ProcDir, RecordSink};

/// Stands for any CPU or any thread in these records.
const ANY: u64 = u64::MAX;
/// Entries of one ID_INDEX record; its size field has 16 bits.
const INDEX_ENTRIES: usize = (u16::MAX as usize - 16) / 32;
/// Threads of one THREAD_MAP record.
const MAP_ENTRIES: usize = (u16::MAX as usize - 16) / 24;

/// Writes how the CPU's cycles become times of records.
pub(crate) fn write_time_conversion(cycles: TimeConversion, sink: &mut RecordSink) {
    let record = TimeConv {
        shift: cycles.shift.into(),
        mult: cycles.mult.into(),
        zero: cycles.zero,
        extended: Some(TimeConvExtended {
            cycles: cycles.cycles,
            mask: cycles.mask,
            cap_time_zero: cycles.user_time_zero,
            cap_time_short: cycles.user_time_short,
        }),
    };
    sink.user_record(RecordType::TIME_CONV, |body| record.encode(body));
}

/// Writes which id belongs to which ring, CPU and thread.
pub(crate) fn write_id_index(
    plan: &Plan,
    open: &OpenEvents,
    workload: Option<Tid>,
    sink: &mut RecordSink,
) {
    let entries: Vec<IdIndexEntry> = open
        .events
        .iter()
        .flat_map(|event| index_entries(plan, event, workload))
        .collect();
    for entries in entries.chunks(INDEX_ENTRIES) {
        sink.user_record(RecordType::ID_INDEX, |body| {
            IdIndex::encode_entries(entries, body)
        });
    }
}

fn index_entries(
    plan: &Plan,
    event: &OpenEvent,
    workload: Option<Tid>,
) -> impl Iterator<Item = IdIndexEntry> {
    event
        .fds
        .iter()
        .zip(&event.ids)
        .map(move |(&(site, _), &id)| IdIndexEntry {
            id,
            index: plan.ring_of(site).unwrap_or(0) as u64,
            cpu: site.cpu.map_or(ANY, |cpu| u64::from(cpu.0)),
            tid: thread_of(site, workload).map_or(ANY, |tid| i64::from(tid.0).cast_unsigned()),
        })
}

fn thread_of(site: OpenSite, workload: Option<Tid>) -> Option<Tid> {
    match site.task {
        TargetTask::Anyone => None,
        TargetTask::Workload => workload,
        TargetTask::Thread(tid) => Some(tid),
    }
}

/// What records say of an event beside its attribute.
pub(crate) struct EventLabels<'a> {
    /// The unit of its values.
    pub(crate) unit: Option<&'a str>,
    /// The factor from a count to that unit.
    pub(crate) scale: Option<f64>,
    /// The CPUs that it is counted on.
    pub(crate) cpus: &'a [Cpu],
    /// Its name, where no feature has it.
    pub(crate) name: Option<&'a str>,
}

/// Writes unit, scale and CPUs of each event.
/// A stream also has their names, which a file has in a feature.
pub(crate) fn write_event_updates(
    plan: &Plan,
    open: &OpenEvents,
    online: &[Cpu],
    in_stream: bool,
    sink: &mut RecordSink,
) {
    for (event, opened) in plan.events.iter().zip(&open.events) {
        if let Some(&id) = opened.ids.first() {
            let labels = EventLabels {
                unit: event.request.unit.as_deref(),
                scale: event.request.scale,
                cpus: &counted_on(event, online),
                name: in_stream.then(|| event.recorded_name()),
            };
            write_labels(&labels, id, sink);
        }
    }
}

/// Writes what is to be said of the event with an id.
pub(crate) fn write_labels(labels: &EventLabels<'_>, id: EventId, sink: &mut RecordSink) {
    const UNIT: u64 = 0;
    const SCALE: u64 = 1;
    const NAME: u64 = 2;
    const CPUS: u64 = 3;
    let mut update = |kind: u64, write: &dyn Fn(&mut Encoder)| {
        sink.user_record(RecordType::EVENT_UPDATE, |body| {
            body.u64(kind);
            body.u64(id.0);
            write(body);
        });
    };
    if let Some(unit) = labels.unit {
        update(UNIT, &|body| body.c_string_padded(unit.as_bytes()));
    }
    if let Some(scale) = labels.scale {
        update(SCALE, &|body| body.u64(scale.to_bits()));
    }
    if !labels.cpus.is_empty() {
        update(CPUS, &|body| encode_cpus(labels.cpus, body));
    }
    if let Some(name) = labels.name {
        update(NAME, &|body| body.c_string_padded(name.as_bytes()));
    }
}

/// The CPUs that an event is counted on; for one that follows its task, all that its PMU has.
fn counted_on(event: &PlannedEvent, online: &[Cpu]) -> Vec<Cpu> {
    match cpus_of(&event.sites) {
        none if none.is_empty() => event
            .request
            .cpus
            .clone()
            .unwrap_or_else(|| online.to_vec()),
        cpus => cpus,
    }
}

fn cpus_of(sites: &[OpenSite]) -> Vec<Cpu> {
    let mut cpus: Vec<Cpu> = sites.iter().filter_map(|site| site.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Writes the threads that were asked for, with their names where `proc` has them.
pub(crate) fn write_thread_map(threads: &[Tid], proc: Option<&ProcDir>, sink: &mut RecordSink) {
    let name = |tid: Tid| Some(proc?.status(tid)?.name);
    let entry = |&tid: &Tid| ThreadMapEntry {
        pid: i64::from(tid.0).cast_unsigned(),
        comm: name(tid).unwrap_or_default(),
    };
    let entries: Vec<ThreadMapEntry> = threads.iter().map(entry).collect();
    let anyone = [ThreadMapEntry {
        pid: ANY,
        comm: Vec::new(),
    }];
    let entries = if entries.is_empty() {
        &anyone[..]
    } else {
        &entries
    };
    for entries in entries.chunks(MAP_ENTRIES) {
        let map = ThreadMap {
            entries: entries.to_vec(),
        };
        sink.user_record(RecordType::THREAD_MAP, |body| map.encode(body));
    }
}

/// Writes the CPUs that were watched; no CPU means that tasks were followed wherever they ran.
pub(crate) fn write_cpu_map(plan: &Plan, sink: &mut RecordSink) {
    let sites: Vec<OpenSite> = plan
        .events
        .iter()
        .flat_map(|event| event.sites.iter().copied())
        .collect();
    write_cpus(&cpus_of(&sites), sink);
}

/// Writes the CPUs that were watched, rising; none where tasks were followed wherever they ran.
pub(crate) fn write_cpus(cpus: &[Cpu], sink: &mut RecordSink) {
    sink.user_record(RecordType::CPU_MAP, |body| encode_cpus(cpus, body));
}

/// A range where they are one, else a list. Numbers of CPUs have 16 bits in these records; a list is cut where the
/// record would not hold it.
fn encode_cpus(cpus: &[Cpu], body: &mut Encoder) {
    const LIST: u16 = 0;
    const RANGE: u16 = 2;
    const ANY_CPU: u16 = u16::MAX;
    match (cpus.first(), cpus.last()) {
        (Some(first), Some(last)) if (last.0 - first.0) as usize + 1 == cpus.len() => {
            body.u16(RANGE);
            body.u16(0);
            body.u16(first.0 as u16);
            body.u16(last.0 as u16);
        }
        _ => {
            let numbers: Vec<u16> = cpus.iter().take(30_000).map(|cpu| cpu.0 as u16).collect();
            let numbers = if numbers.is_empty() {
                vec![ANY_CPU]
            } else {
                numbers
            };
            body.u16(LIST);
            body.u16(numbers.len() as u16);
            numbers.iter().for_each(|&number| body.u16(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_wire::Endian;

    fn encoded(cpus: &[u32]) -> Vec<u8> {
        let mut body = Encoder::new(Endian::Little);
        encode_cpus(
            &cpus.iter().copied().map(Cpu).collect::<Vec<_>>(),
            &mut body,
        );
        body.into_bytes()
    }

    #[test]
    fn cpus_are_a_range_or_a_list() {
        assert_eq!(encoded(&[0, 1, 2]), [2, 0, 0, 0, 0, 0, 2, 0]);
        assert_eq!(encoded(&[1, 3]), [0, 0, 2, 0, 1, 0, 3, 0]);
        assert_eq!(encoded(&[]), [0, 0, 1, 0, 255, 255]);
    }
}
