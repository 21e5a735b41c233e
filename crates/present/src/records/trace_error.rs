//! AUXTRACE_ERROR: what a decoder of hardware trace could not make sense of.

use oxperf_wire::user::AuxtraceError;

use crate::text::number::push_prefixed;
use crate::text::{push_name, put};

/// Appends the line of a decoder's error, from behind the record's name on.
pub fn trace_error(out: &mut Vec<u8>, record: &AuxtraceError<'_>) {
    let what = if record.kind == 1 {
        "instruction trace"
    } else {
        "unknown AUX"
    };
    put!(out, " {what} error type {}", record.kind);
    match record.time.map_or(0, |time| time.0) {
        0 => out.extend_from_slice(b" time 0"),
        time => put!(
            out,
            " time {}.{:09}",
            time / 1_000_000_000,
            time % 1_000_000_000
        ),
    }
    if let Some((pid, vcpu)) = record.guest.filter(|(pid, _)| pid.0 != 0) {
        put!(out, " machine_pid {pid} vcpu {vcpu}");
    }
    let AuxtraceError {
        cpu,
        pid,
        tid,
        code,
        ..
    } = record;
    put!(out, " cpu {cpu} pid {pid} tid {tid} ip ");
    push_prefixed(out, record.ip);
    put!(out, " code {code}: ");
    push_name(out, record.message);
    out.push(b'\n');
}
