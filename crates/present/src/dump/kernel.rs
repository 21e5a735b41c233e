//! The kernel's records that are no samples.

use oxperf_abi::{Misc, RecordType};
use oxperf_data::RawRecord;
use oxperf_session::SessionEvent;
use oxperf_wire::kernel::{
    Aux, AuxOutputHwId, BpfEvent, CallchainDeferred, Cgroup, Comm, ItraceStart, Ksymbol, Lost,
    LostSamples, Mmap, Mmap2, Namespaces, Read, SwitchCpuWide, Task, TextPoke,
};
use oxperf_wire::{Cursor, Endian, SampleId};

use super::text::{Text, push_prefixed, put};
use super::{Consumer, UNHANDLED, chain, record_name};
use crate::records;
use crate::text::sanitize;

/// Appends the text of a record from its name on.
pub(crate) fn write(
    record: &RawRecord<'_>,
    id: &SampleId,
    event: Option<&SessionEvent>,
    endian: Endian,
    consumer: Consumer,
    out: &mut Vec<u8>,
) -> Text {
    let (misc, mut cursor) = (record.header.misc, Cursor::new(record.body, endian));
    let cursor = &mut cursor;
    match record.header.kind {
        RecordType::MMAP => records::mmap(out, misc, &Mmap::decode(cursor)?),
        RecordType::MMAP2 => records::mmap2(out, &Mmap2::decode(misc, cursor)?),
        RecordType::COMM => records::comm(out, misc, &Comm::decode(cursor)?),
        RecordType::FORK => records::fork(out, &Task::decode(cursor)?),
        RecordType::EXIT => records::exit(out, &Task::decode(cursor)?),
        RecordType::NAMESPACES => records::namespaces(out, &Namespaces::decode(cursor)?),
        RecordType::SWITCH => records::switch(out, misc),
        RecordType::SWITCH_CPU_WIDE => {
            records::switch_cpu_wide(out, misc, &SwitchCpuWide::decode(cursor)?)
        }
        RecordType::KSYMBOL => records::ksymbol(out, &Ksymbol::decode(cursor)?),
        RecordType::BPF_EVENT => records::bpf_event(out, &BpfEvent::decode(cursor)?),
        RecordType::CGROUP => records::cgroup(out, &Cgroup::decode(cursor)?),
        RecordType::TEXT_POKE => records::text_poke(out, &TextPoke::decode(cursor)?, None),
        RecordType::LOST => lost(&Lost::decode(cursor)?, out),
        RecordType::LOST_SAMPLES => lost_samples(misc, id, &LostSamples::decode(cursor)?, out),
        RecordType::READ => read(cursor, event, consumer, out)?,
        RecordType::AUX => aux(&Aux::decode(cursor)?, out),
        RecordType::ITRACE_START => {
            let start = ItraceStart::decode(cursor)?;
            put!(
                out,
                "PERF_RECORD_ITRACE_START pid: {} tid: {}\n",
                start.pid,
                start.tid
            );
        }
        RecordType::AUX_OUTPUT_HW_ID => {
            out.extend_from_slice(b"PERF_RECORD_AUX_OUTPUT_HW_ID hw_id: ");
            push_prefixed(out, AuxOutputHwId::decode(cursor)?.hw_id);
            out.push(b'\n');
        }
        RecordType::CALLCHAIN_DEFERRED => {
            let record = CallchainDeferred::decode(cursor)?;
            let (pid, tid) = (
                id.pid.map_or(-1, |pid| pid.0),
                id.tid.map_or(-1, |tid| tid.0),
            );
            let misc = misc.0;
            put!(
                out,
                "PERF_RECORD_CALLCHAIN_DEFERRED(IP, 0x{misc:x}): {pid}/{tid}: "
            );
            push_prefixed(out, record.cookie);
            out.push(b'\n');
            chain::words(&record.chain, out);
        }
        // As in perf, `script` says nothing more, it does not even end the line.
        kind @ (RecordType::THROTTLE | RecordType::UNTHROTTLE) => {
            put!(out, "PERF_RECORD_{}", record_name(kind));
            if consumer == Consumer::Report {
                out.extend_from_slice(UNHANDLED);
            }
        }
        RecordType::SAMPLE => {
            out.extend_from_slice(b"PERF_RECORD_SAMPLE of an event that is not listed\n")
        }
        kind => put!(out, "PERF_RECORD_{} ({})\n", record_name(kind), kind.0),
    }
    Ok(())
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
    cursor: &mut Cursor<'_>,
    event: Option<&SessionEvent>,
    consumer: Consumer,
    out: &mut Vec<u8>,
) -> Text {
    let format = event
        .map(|event| event.attr.read_format)
        .unwrap_or_default();
    let record = Read::decode(format, cursor)?;
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
    Ok(())
}
