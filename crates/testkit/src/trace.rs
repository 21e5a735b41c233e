//! Hardware trace in notation: what the recorder notes about it, pieces of it, and the packets in them.

mod packets;
mod payload;

use oxperf_abi::RecordType;

use crate::bytes::{Bytes, Endian};
use crate::error::Read;
use crate::line::Line;

pub(crate) use packets::packets;

/// Bits of Intel PT's config as real processors have them: TSC, no return compression.
const TSC_AND_NORETCOMP: [u64; 2] = [0x400, 0x800];
/// Bits of MTC and its period.
const MTC: [u64; 2] = [0x200, 0x3_c000];
const CYC: u64 = 2;
const INTEL_PT: u32 = 1;

/// The body of an `auxtrace_info` line.
pub(crate) fn info(line: &mut Line, out: &mut Bytes) -> Read<RecordType> {
    out.u32(INTEL_PT);
    out.u32(0);
    out.u64(line.number("pmu")?.unwrap_or(8));
    out.u64(line.number_or_zero("shift")?);
    out.u64(line.number("mult")?.unwrap_or(1));
    out.u64(line.number_or_zero("zero")?);
    out.u64(line.number("cap_time")?.unwrap_or(1));
    TSC_AND_NORETCOMP.into_iter().for_each(|bit| out.u64(bit));
    out.u64(line.number_or_zero("switch")?);
    out.u64(line.number_or_zero("snapshot")?);
    out.u64(line.number("per_cpu")?.unwrap_or(1));
    MTC.into_iter().for_each(|bits| out.u64(bits));
    out.u64(line.number("numerator")?.unwrap_or(2));
    out.u64(line.number("denominator")?.unwrap_or(2));
    out.u64(CYC);
    out.u64(line.number("ratio")?.unwrap_or(30));
    filter(&line.take("filter").unwrap_or_default(), out);
    out.u64(line.number_or_zero("event_trace")?);
    Ok(RecordType::AUXTRACE_INFO)
}

/// The text's length, and where it is not 0 the text in whole words.
fn filter(text: &str, out: &mut Bytes) {
    out.u64(text.len() as u64);
    if !text.is_empty() {
        out.text(text, 8);
    }
}

/// An `auxtrace` line: the record with the packets behind it, as bytes of their own.
pub(crate) fn piece(line: &mut Line, endian: Endian) -> Read<Vec<u8>> {
    const SIZE: u16 = 48;
    let mut trace = packets(&line.take("packets").unwrap_or_default())?;
    trace.resize(trace.len().next_multiple_of(8), 0);
    let mut out = Bytes::new(endian);
    out.u32(RecordType::AUXTRACE.0);
    out.u16(0);
    out.u16(SIZE);
    out.u64(trace.len() as u64);
    out.u64(line.number_or_zero("offset")?);
    out.u64(line.number_or_zero("reference")?);
    out.u32(line.number_or_zero("index")?);
    out.i32(line.number("tid")?.unwrap_or(-1));
    out.i32(line.number("cpu")?.unwrap_or(-1));
    out.u32(0);
    out.raw(&trace);
    Ok(out.into_vec())
}
