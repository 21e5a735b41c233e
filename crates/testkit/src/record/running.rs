//! Lines that say who runs and what changes in the kernel's code: `switch`, `switch_cpu_wide`, `itrace_start`, `aux`,
//! `aux_output_hw_id`, `text_poke`, `ksymbol`.

use oxperf_abi::RecordType;

use super::ThreadBody;
use super::task::task;
use crate::bytes::Bytes;
use crate::error::Read;
use crate::line::Line;
use crate::number;

/// The lines.
pub(super) const LINES: [&str; 7] = [
    "switch",
    "switch_cpu_wide",
    "itrace_start",
    "aux",
    "aux_output_hw_id",
    "text_poke",
    "ksymbol",
];

/// The record has no body; its trailer says who.
pub(super) fn switch() -> Read<ThreadBody> {
    Ok(ThreadBody::new(RecordType::SWITCH))
}

/// `pid= tid=` are the next or the previous; the trailer says who is meant, and does not repeat these.
pub(super) fn switch_cpu_wide(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    task(line, out)?;
    Ok(ThreadBody::new(RecordType::SWITCH_CPU_WIDE))
}

pub(super) fn itrace_start(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let task = task(line, out)?;
    Ok(ThreadBody::of_task(RecordType::ITRACE_START, 0, task))
}

pub(super) fn aux(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    for key in ["offset", "size", "flags"] {
        out.u64(line.number_or_zero(key)?);
    }
    Ok(ThreadBody::new(RecordType::AUX))
}

pub(super) fn aux_output_hw_id(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    out.u64(line.number_or_zero("hw_id")?);
    Ok(ThreadBody::new(RecordType::AUX_OUTPUT_HW_ID))
}

pub(super) fn text_poke(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let mut bytes = |key| number::hex(&line.take(key).unwrap_or_default());
    let (old, new) = (bytes("old")?, bytes("new")?);
    out.u64(line.number_or_zero("addr")?);
    out.u16(old.len() as u16);
    out.u16(new.len() as u16);
    out.raw(&old);
    out.raw(&new);
    out.pad_to_8();
    Ok(ThreadBody::new(RecordType::TEXT_POKE))
}

pub(super) fn ksymbol(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    out.u64(line.number_or_zero("addr")?);
    out.u32(line.number_or_zero("len")?);
    out.u16(line.number("kind")?.unwrap_or(1));
    out.u16(line.number_or_zero("flags")?);
    out.text(&line.word("the symbol's name")?, 8);
    Ok(ThreadBody::new(RecordType::KSYMBOL))
}
