//! The records about AUX trace, and the trace itself.

use crate::text::number::push_prefixed;
use crate::text::{push_name, put};
use intel_pt::packet::text::perf;
use oxperf_abi::RecordType;
use oxperf_data::RawRecord;
use oxperf_wire::user::{Auxtrace, AuxtraceInfo};
use oxperf_wire::{Cursor, Endian, Words};

/// A word of AUXTRACE_INFO: its name with padding, and whether it is shown in hexadecimal.
type Field = (&'static str, bool);

/// The number of Intel PT among the kinds of trace.
const KIND_INTEL_PT: u32 = 1;

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

const ARM_SPE: [Field; 2] = [
    ("PMU Type           :", false),
    ("Per CPU mmaps      :", false),
];

/// Appends what the decoder of the trace has to know.
pub(super) fn info(record: &AuxtraceInfo<'_>, out: &mut Vec<u8>) {
    put!(out, " type: {}\n", record.kind);
    let fields: &[Field] = match record.kind {
        KIND_INTEL_PT => &INTEL_PT,
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
    if record.kind == KIND_INTEL_PT {
        filter(record, out);
    }
}

/// Appends the last part of newer records of Intel PT: the address filter, its length before it, and one word more.
fn filter(record: &AuxtraceInfo<'_>, out: &mut Vec<u8>) {
    let Some(length) = record.words.get(INTEL_PT.len()) else {
        return;
    };
    let rest = record
        .words
        .as_bytes()
        .get(8 * (INTEL_PT.len() + 1)..)
        .unwrap_or_default();
    let padded = usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_next_multiple_of(8));
    let Some((text, after)) = padded.and_then(|padded| rest.split_at_checked(padded)) else {
        return;
    };
    let end = text
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(text.len());
    put!(
        out,
        "  Filter string len.  {length}\n  Filter string       "
    );
    push_name(out, &text[..end]);
    out.push(b'\n');
    if let Some(event_trace) = Words::new(after, record.words.endian()).get(0) {
        put!(out, "  Cap Event Trace     {event_trace}\n");
    }
}

/// Appends where a piece of trace comes from.
pub(super) fn piece(record: &Auxtrace, out: &mut Vec<u8>) {
    for (name, value) in [
        (" size: ", record.size),
        ("  offset: ", record.offset),
        ("  ref: ", record.reference),
    ] {
        out.extend_from_slice(name.as_bytes());
        push_prefixed(out, value);
    }
    let cpu = record.cpu.map_or(-1, i64::from);
    put!(
        out,
        "  idx: {}  tid: {}  cpu: {cpu}\n",
        record.index,
        record.tid
    );
}

/// True where AUXTRACE_INFO announces trace of Intel PT; `None` for other records.
pub(super) fn announces_intel_pt(record: &RawRecord<'_>, endian: Endian) -> Option<bool> {
    let is_info = record.header.kind == RecordType::AUXTRACE_INFO;
    let info = is_info.then(|| AuxtraceInfo::decode(&mut Cursor::new(record.body, endian)))?;
    Some(info.is_ok_and(|info| info.kind == KIND_INTEL_PT))
}

/// Packets of a stretch of trace, to be written piece by piece: their text is far longer than they are.
#[derive(Debug)]
pub struct Packets<'a> {
    lines: perf::Dump<'a>,
}

impl<'a> Packets<'a> {
    /// Begins the dump of `trace`.
    pub(super) fn begin(trace: &'a [u8], out: &mut Vec<u8>) -> Packets<'a> {
        put!(
            out,
            ". ... Intel Processor Trace data: size {} bytes\n",
            trace.len()
        );
        Packets {
            lines: perf::Dump::new(trace),
        }
    }

    /// Appends some lines; whether there are more.
    pub fn write(&mut self, out: &mut Vec<u8>) -> bool {
        const PIECE: usize = 128 << 10;
        self.lines.write(PIECE, out)
    }
}
