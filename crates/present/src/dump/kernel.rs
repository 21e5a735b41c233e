//! The kernel's records that are no samples.

use oxperf_abi::{Misc, RecordType};
use oxperf_data::RawRecord;
use oxperf_session::SessionEvent;
use oxperf_wire::kernel::{Aux, CallchainDeferred, Lost, LostSamples, ReadRecord};
use oxperf_wire::{Endian, SampleId, WireError};

use super::consumer::UNHANDLED;
use super::{Consumer, chain, record_name};
use crate::records::KernelRecord;
use crate::text::number::push_prefixed;
use crate::text::{put, sanitize};

/// The facts of a record beside its header and its body.
pub(super) struct Trailer<'a> {
    /// The fields behind the body; all absent where the event has none.
    pub(super) id: SampleId,
    /// The record's event, if it is listed.
    pub(super) event: Option<&'a SessionEvent>,
    /// The recorder's byte order.
    pub(super) endian: Endian,
}

/// Appends the text of a record from its name on.
pub(super) fn write(
    record: &RawRecord<'_>,
    trailer: &Trailer<'_>,
    consumer: Consumer,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let misc = record.header.misc;
    let format = trailer.event.map(|event| event.attr.read_format);
    match KernelRecord::decode(record, format.unwrap_or_default(), trailer.endian)? {
        KernelRecord::Lost(record) => lost(&record, out),
        KernelRecord::LostSamples(record) => lost_samples(misc, &trailer.id, &record, out),
        KernelRecord::Read(record) => read(&record, trailer.event, consumer, out),
        KernelRecord::Aux(record) => aux(&record, out),
        KernelRecord::ItraceStart(start) => {
            let (pid, tid) = (start.pid, start.tid);
            put!(out, "PERF_RECORD_ITRACE_START pid: {pid} tid: {tid}\n");
        }
        KernelRecord::AuxOutputHwId(record) => {
            out.extend_from_slice(b"PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: ");
            push_prefixed(out, record.hw_id);
            out.push(b'\n');
        }
        KernelRecord::CallchainDeferred(record) => {
            callchain_deferred(misc, &trailer.id, &record, out)
        }
        KernelRecord::Other(kind) => other(kind, consumer, out),
        shared => shared.write_line(misc, None, out),
    }
    Ok(())
}

fn other(kind: RecordType, consumer: Consumer, out: &mut Vec<u8>) {
    match kind {
        // As in perf, `script` says nothing more, it does not even end the line.
        RecordType::THROTTLE | RecordType::UNTHROTTLE => {
            put!(out, "PERF_RECORD_{}", record_name(kind));
            if consumer == Consumer::Report {
                out.extend_from_slice(UNHANDLED);
            }
        }
        RecordType::SAMPLE => {
            out.extend_from_slice(b"PERF_RECORD_SAMPLE of an event that is not listed\n")
        }
        _ => put!(out, "PERF_RECORD_{} ({})\n", record_name(kind), kind.0),
    }
}

fn callchain_deferred(
    misc: Misc,
    id: &SampleId,
    record: &CallchainDeferred<'_>,
    out: &mut Vec<u8>,
) {
    let pid = id.pid.map_or(-1, |pid| pid.0);
    let tid = id.tid.map_or(-1, |tid| tid.0);
    let misc = misc.0;
    put!(
        out,
        "PERF_RECORD_CALLCHAIN_DEFERRED(IP, 0x{misc:x}): {pid}/{tid}: "
    );
    push_prefixed(out, record.cookie);
    out.push(b'\n');
    chain::words(&record.chain, out);
}

fn lost(record: &Lost, out: &mut Vec<u8>) {
    put!(
        out,
        "PERF_RECORD_LOST: id:{}: lost:{}\n",
        record.id,
        record.lost
    );
}

fn lost_samples(misc: Misc, id: &SampleId, record: &LostSamples, out: &mut Vec<u8>) {
    let id = id.id.map_or(u64::MAX, |id| id.0);
    let filter = if misc.has(Misc::LOST_SAMPLES_BPF) {
        " (BPF)"
    } else {
        ""
    };
    put!(
        out,
        "PERF_RECORD_LOST_SAMPLES: id:{id}: lost samples :{}{filter}\n",
        record.lost
    );
}

fn aux(record: &Aux, out: &mut Vec<u8>) {
    const FLAGS: [(u64, char); 4] = [(1, 'T'), (2, 'O'), (4, 'P'), (8, 'C')];
    let letters: String = FLAGS
        .iter()
        .filter(|(bit, _)| record.flags & bit != 0)
        .map(|(_, letter)| letter)
        .collect();
    out.extend_from_slice(b"PERF_RECORD_AUX");
    for (name, value) in [
        ("offset", record.offset),
        ("size", record.size),
        ("flags", record.flags),
    ] {
        put!(out, " {name}: ");
        push_prefixed(out, value);
    }
    put!(out, " [{letters}]\n");
}

fn read(
    record: &ReadRecord<'_>,
    event: Option<&SessionEvent>,
    consumer: Consumer,
    out: &mut Vec<u8>,
) {
    let name = event.map_or("unknown", |event| &event.name);
    let value = record.values.values().next();
    let count = value.map_or(0, |value| value.value);
    put!(
        out,
        "PERF_RECORD_READ: {} {} {} {count}\n",
        record.pid,
        record.tid,
        sanitize(name)
    );
    let lines = [
        ("time enabled", record.values.time_enabled),
        ("time running", record.values.time_running),
        (
            "id          ",
            value.and_then(|value| value.id).map(|id| id.0),
        ),
        ("lost        ", value.and_then(|value| value.lost)),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            put!(out, "... {name} : {value}\n");
        }
    }
    if consumer == Consumer::Script {
        out.extend_from_slice(UNHANDLED);
    }
}
