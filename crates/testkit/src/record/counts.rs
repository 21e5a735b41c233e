//! `lost`, `lost_samples`, `throttle` and `unthrottle` lines.

use oxperf_abi::RecordType;

use super::ThreadBody;
use crate::bytes::Bytes;
use crate::error::Read;
use crate::line::Line;

pub(super) fn lost(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    words(RecordType::LOST, &["id", "lost"], line, out)
}

pub(super) fn lost_samples(line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    words(RecordType::LOST_SAMPLES, &["lost"], line, out)
}

pub(super) fn throttle(kind: RecordType, line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    words(kind, &["time", "id", "stream_id"], line, out)
}

fn words(kind: RecordType, keys: &[&str], line: &mut Line, out: &mut Bytes) -> Read<ThreadBody> {
    for key in keys {
        out.u64(line.number_or_zero(key)?);
    }
    Ok(ThreadBody::new(kind))
}
