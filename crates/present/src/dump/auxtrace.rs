//! The records about AUX trace.

use oxperf_wire::Words;
use oxperf_wire::user::{Auxtrace, AuxtraceError, AuxtraceInfo};

use super::text::{push_name, push_prefixed, put};

/// A word of AUXTRACE_INFO: its name with padding, and whether it is shown in hexadecimal.
type Field = (&'static str, bool);

const INTEL_PT: [Field; 16] = [
    ("PMU Type            ", false),
    ("Time Shift          ", false),
    ("Time Multiplier     ", false),
    ("Time Zero           ", false),
    ("Cap Time Zero       ", false),
    ("TSC bit             ", true),
    ("NoRETComp bit       ", true),
    ("Have sched_switch   ", false),
    ("Snapshot mode       ", false),
    ("Per-cpu maps        ", false),
    ("MTC bit             ", true),
    ("MTC freq bits       ", true),
    ("TSC:CTC numerator   ", false),
    ("TSC:CTC denominator ", false),
    ("CYC bit             ", true),
    ("Max non-turbo ratio ", false),
];

const INTEL_BTS: [Field; 6] = [
    ("PMU Type           ", false),
    ("Time Shift         ", false),
    ("Time Multiplier    ", false),
    ("Time Zero          ", false),
    ("Cap Time Zero      ", false),
    ("Snapshot mode      ", false),
];

const ARM_SPE: [Field; 2] = [("PMU Type           :", false), ("Per CPU mmaps      :", false)];

/// Appends what the decoder of the trace has to know.
pub(super) fn info(record: &AuxtraceInfo<'_>, out: &mut Vec<u8>) {
    put!(out, " type: {}\n", record.kind);
    let fields: &[Field] = match record.kind {
        1 => &INTEL_PT,
        2 => &INTEL_BTS,
        4 => &ARM_SPE,
        _ => &[],
    };
    for ((name, hexadecimal), word) in fields.iter().zip(record.words.iter()) {
        put!(out, "  {name}");
        if *hexadecimal {
            push_prefixed(out, word)
        } else {
            put!(out, "{word}")
        }
        out.push(b'\n');
    }
    if record.kind == 1 {
        filter(record, out);
    }
}

/// What follows in newer records of Intel PT: the address filter, its length before it, and one word more.
fn filter(record: &AuxtraceInfo<'_>, out: &mut Vec<u8>) {
    let Some(length) = record.words.get(INTEL_PT.len()) else { return };
    let rest = record.words.as_bytes().get(8 * (INTEL_PT.len() + 1)..).unwrap_or_default();
    let padded = usize::try_from(length).ok().and_then(|length| length.checked_next_multiple_of(8));
    let Some((text, after)) = padded.and_then(|padded| rest.split_at_checked(padded)) else { return };
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    put!(out, "  Filter string len.  {length}\n  Filter string       ");
    push_name(out, &text[..end]);
    out.push(b'\n');
    if let Some(event_trace) = Words::new(after, record.words.endian()).get(0) {
        put!(out, "  Cap Event Trace     {event_trace}\n");
    }
}

/// Appends where a piece of trace comes from.
pub(super) fn piece(record: &Auxtrace, out: &mut Vec<u8>) {
    for (name, value) in
        [(" size: ", record.size), ("  offset: ", record.offset), ("  ref: ", record.reference)]
    {
        out.extend_from_slice(name.as_bytes());
        push_prefixed(out, value);
    }
    let cpu = record.cpu.map_or(-1, i64::from);
    put!(out, "  idx: {}  tid: {}  cpu: {cpu}\n", record.index, record.tid);
}

/// Appends a decoder's error.
pub(super) fn error(record: &AuxtraceError<'_>, out: &mut Vec<u8>) {
    let what = if record.kind == 1 { "instruction trace" } else { "unknown AUX" };
    put!(out, " {what} error type {}", record.kind);
    match record.time.map_or(0, |time| time.0) {
        0 => out.extend_from_slice(b" time 0"),
        time => put!(out, " time {}.{:09}", time / 1_000_000_000, time % 1_000_000_000),
    }
    if let Some((pid, vcpu)) = record.guest.filter(|(pid, _)| pid.0 != 0) {
        put!(out, " machine_pid {pid} vcpu {vcpu}");
    }
    let AuxtraceError { cpu, pid, tid, code, .. } = record;
    put!(out, " cpu {cpu} pid {pid} tid {tid} ip ");
    push_prefixed(out, record.ip);
    put!(out, " code {code}: ");
    push_name(out, record.message);
    out.push(b'\n');
}
