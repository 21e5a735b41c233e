//! `comm`, `fork` and `exit` lines.

use oxperf_abi::RecordType;

use super::ThreadBody;
use crate::bytes::Bytes;
use crate::error::Read;
use crate::line::Line;

/// Reads and writes `pid= tid=`.
pub(super) fn task(line: &mut Line, out: &mut Bytes) -> Read<(i32, i32)> {
    let task = (line.number_or_zero("pid")?, line.number_or_zero("tid")?);
    out.i32(task.0);
    out.i32(task.1);
    Ok(task)
}

pub(super) fn comm(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let task = task(line, out)?;
    out.text(&line.word("the thread's name")?, 8);
    Ok(ThreadBody::of_task(RecordType::COMM, 0, task))
}

pub(super) fn fork_or_exit(kind: RecordType, line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    let task = (line.number_or_zero("pid")?, line.number_or_zero("tid")?);
    out.i32(task.0);
    out.i32(line.number_or_zero("ppid")?);
    out.i32(task.1);
    out.i32(line.number_or_zero("ptid")?);
    out.u64(line.number_or_zero("time")?);
    Ok(ThreadBody::of_task(kind, 0, task))
}
