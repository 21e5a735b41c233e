//! The records that recording tools write.

use crate::text::number::push_prefixed;
use crate::text::{push_name, put};
use oxperf_abi::RecordType;
use oxperf_data::RawRecord;
use oxperf_wire::user::{
    Auxtrace, AuxtraceError, AuxtraceInfo, BpfMetadata, CpuMap, EventUpdate, HeaderAttr, IdIndex,
    SchedstatCpu, SchedstatDomain, Stat, StatConfig, StatRound, ThreadMap, TimeConv, Update,
};
use oxperf_wire::{Cursor, Endian, WireError};

use super::consumer::UNHANDLED;
use super::{Consumer, auxtrace, record_name, simpleperf, stat};
use crate::records::trace_error;
use crate::text::attr_text::{NoEventNames, attr_fields};

/// Appends the text of a record from its name on.
pub(super) fn write(
    record: &RawRecord<'_>,
    endian: Endian,
    consumer: Consumer,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let mut cursor = Cursor::new(record.body, endian);
    let (kind, cursor) = (record.header.kind, &mut cursor);
    put!(out, "PERF_RECORD_{}", record_name(kind));
    match kind {
        RecordType::ID_INDEX => id_index(&IdIndex::decode(cursor)?, out),
        RecordType::THREAD_MAP => thread_map(&ThreadMap::decode(cursor)?, out),
        RecordType::CPU_MAP => cpu_map(CpuMap::decode(cursor)?.as_ref(), out),
        RecordType::EVENT_UPDATE => event_update(&EventUpdate::decode(cursor)?, out),
        RecordType::TIME_CONV => time_conv(&TimeConv::decode(cursor)?, out),
        RecordType::HEADER_ATTR => header_attr(&HeaderAttr::decode(cursor)?, out),
        RecordType::AUXTRACE_INFO => auxtrace::info(&AuxtraceInfo::decode(cursor)?, out),
        RecordType::AUXTRACE => auxtrace::piece(&Auxtrace::decode(cursor)?, out),
        RecordType::AUXTRACE_ERROR if consumer == Consumer::Script => {
            trace_error(out, &AuxtraceError::decode(cursor)?);
        }
        RecordType::STAT_CONFIG if consumer == Consumer::Report => {
            stat::config(&StatConfig::decode(cursor)?, out)
        }
        RecordType::STAT => stat::counts(&Stat::decode(cursor)?, out),
        RecordType::STAT_ROUND => stat::round(&StatRound::decode(cursor)?, out),
        RecordType::BPF_METADATA => bpf_metadata(&BpfMetadata::decode(cursor)?, out),
        RecordType::SCHEDSTAT_CPU => stat::schedstat_cpu(&SchedstatCpu::decode(cursor)?, out),
        RecordType::SCHEDSTAT_DOMAIN => {
            stat::schedstat_domain(&SchedstatDomain::decode(cursor)?, out)
        }
        RecordType::FINISHED_ROUND => out.push(b'\n'),
        kind if kind >= RecordType::SIMPLEPERF_KERNEL_SYMBOL && kind.name().is_some() => {
            simpleperf::write(kind, cursor, out)?;
        }
        kind if kind.name().is_none() => put!(out, " ({})\n", kind.0),
        // BUILD_ID, TRACING_DATA, FINISHED_INIT and what is compressed: as in perf, not even the line's end.
        _ => {}
    }
    if is_unhandled(kind, consumer) {
        out.extend_from_slice(UNHANDLED);
    }
    Ok(())
}

/// True if the command does nothing with records of this kind.
fn is_unhandled(kind: RecordType, consumer: Consumer) -> bool {
    match kind {
        RecordType::TIME_CONV
        | RecordType::FINISHED_INIT
        | RecordType::BPF_METADATA
        | RecordType::SCHEDSTAT_CPU
        | RecordType::SCHEDSTAT_DOMAIN => true,
        RecordType::THREAD_MAP
        | RecordType::CPU_MAP
        | RecordType::AUXTRACE_ERROR
        | RecordType::STAT_CONFIG
        | RecordType::STAT
        | RecordType::STAT_ROUND => consumer == Consumer::Report,
        _ => false,
    }
}

fn id_index(record: &IdIndex<'_>, out: &mut Vec<u8>) {
    put!(out, " nr: {}\n", record.entries().count());
    let mut guests = record.guests();
    for entry in record.entries() {
        let (id, index) = (entry.id, entry.index);
        let (cpu, tid) = (entry.cpu.cast_signed(), entry.tid.cast_signed());
        put!(out, " ... id: {id}  idx: {index}  cpu: {cpu}  tid: {tid}");
        if let Some(guest) = guests.as_mut().and_then(Iterator::next) {
            let (pid, vcpu) = (guest.machine_pid.cast_signed(), guest.vcpu.cast_signed());
            put!(out, "  machine_pid: {pid}  vcpu: {vcpu}");
        }
        out.push(b'\n');
    }
}

fn thread_map(record: &ThreadMap, out: &mut Vec<u8>) {
    let threads: Vec<String> = record
        .entries
        .iter()
        .map(|entry| (entry.pid as i32).to_string())
        .collect();
    let plural = if threads.len() > 1 { "s" } else { "" };
    put!(
        out,
        " nr: {} thread{plural}: {}\n",
        threads.len(),
        threads.join(", ")
    );
}

fn cpu_map(map: Option<&CpuMap>, out: &mut Vec<u8>) {
    match map {
        Some(map) => put!(out, ": {}\n", cpu_ranges(map)),
        None => out.extend_from_slice(b": failed to get cpumap from event\n"),
    }
}

/// CPUs that follow each other as ranges; any CPU counts as -1.
fn cpu_ranges(map: &CpuMap) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for cpu in map.cpus().into_iter().map(|cpu| cpu.map_or(-1, i64::from)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let text = |(first, last): &(i64, i64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

fn event_update(record: &EventUpdate<'_>, out: &mut Vec<u8>) {
    put!(out, "\n... id:    {}\n... ", record.id);
    match &record.update {
        Update::Unit(unit) => named("unit: ", unit, out),
        Update::Name(name) => named("name: ", name, out),
        Update::Scale(scale) => put!(out, "scale: {scale:.6}\n"),
        Update::Cpus(Some(map)) => put!(out, "{}\n", cpu_ranges(map)),
        Update::Cpus(None) => out.extend_from_slice(b"failed to get cpus\n"),
        Update::Unknown(_) => out.extend_from_slice(b"unknown type\n"),
    }
}

fn named(what: &str, name: &[u8], out: &mut Vec<u8>) {
    put!(out, "{what} ");
    push_name(out, name);
    out.push(b'\n');
}

fn time_conv(record: &TimeConv, out: &mut Vec<u8>) {
    out.push(b'\n');
    put!(out, "... Time Shift      {}\n", record.shift);
    put!(out, "... Time Multiplier {}\n", record.mult);
    put!(out, "... Time Zero       {}\n", record.zero);
    if let Some(extended) = &record.extended {
        put!(out, "... Time Cycles     {}\n", extended.cycles);
        out.extend_from_slice(b"... Time Mask       ");
        push_prefixed(out, extended.mask);
        out.push(b'\n');
        put!(
            out,
            "... Cap Time Zero   {}\n",
            u8::from(extended.cap_time_zero)
        );
        put!(
            out,
            "... Cap Time Short  {}\n",
            u8::from(extended.cap_time_short)
        );
    }
}

fn header_attr(record: &HeaderAttr<'_>, out: &mut Vec<u8>) {
    for field in attr_fields(&record.stored.attr, record.stored.size, &NoEventNames) {
        put!(out, ", {} = {}", field.name, field.value);
    }
}

fn bpf_metadata(record: &BpfMetadata<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b" prog ");
    push_name(out, record.program);
    out.push(b'\n');
    for (index, (key, value)) in record.entries.iter().enumerate() {
        let key = crate::text::sanitize(&String::from_utf8_lossy(key)).into_owned();
        put!(out, "  entry {index}: {key:>20} = ");
        push_name(out, value);
        out.push(b'\n');
    }
}
