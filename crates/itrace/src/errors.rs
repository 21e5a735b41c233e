//! Errors of decoding, in perf's numbers and words.

use oxperf_abi::PerfTime;
use oxperf_wire::user::AuxtraceError;

use crate::options::ErrorSelection;
use crate::running::Running;

/// Trace was lost before it reached the file.
pub(crate) const LOST: u32 = 8;

/// True when errors with this code are reported.
pub(crate) fn is_reported(errors: &ErrorSelection, code: u32) -> bool {
    const OVERFLOW: u32 = 7;
    let left_out = code == OVERFLOW && errors.without.contains('o')
        || code == LOST && errors.without.contains('l');
    errors.shown && !left_out
}

/// An error as perf's record of it.
pub(crate) fn trace_error_record(
    code: u32,
    running: Running,
    ip: u64,
    time: Option<PerfTime>,
) -> AuxtraceError<'static> {
    const INSTRUCTION_TRACE: u32 = 1;
    AuxtraceError {
        kind: INSTRUCTION_TRACE,
        code,
        cpu: running.cpu.map_or(-1, |cpu| cpu.0 as i32),
        pid: running.pid,
        tid: running.tid,
        ip,
        time: Some(time.unwrap_or_default()),
        message: error_text(code).as_bytes(),
        guest: None,
    }
}

/// perf's words for its numbers of errors.
fn error_text(code: u32) -> &'static str {
    match code {
        1 => "Memory allocation failed",
        2 => "Internal error",
        3 => "Bad packet",
        4 => "No more data",
        5 => "Failed to get instruction",
        6 => "Trace doesn't match instruction",
        7 => "Overflow packet",
        8 => "Lost trace data",
        10 => "Never-ending loop (refer perf config intel-pt.max-loops)",
        11 => "Broken emulated ptwrite",
        _ => "Unknown error!",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ItraceOptions;

    #[test]
    fn errors_can_be_left_out_by_kind() {
        let reported = |text: &str| {
            let options = ItraceOptions::parse(text).unwrap();
            [5, 7, LOST].map(|code| is_reported(&options.errors, code))
        };
        assert_eq!(reported("e"), [true; 3]);
        assert_eq!(reported("e-o"), [true, false, true]);
        assert_eq!(reported("e-o-l"), [true, false, false]);
        assert_eq!(reported("b"), [false; 3]);
    }
}
