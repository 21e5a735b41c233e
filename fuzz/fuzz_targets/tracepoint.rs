//! A tracepoint's format text and, behind a NUL, a record for it: the text that comes out holds no control characters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_tracepoint::{ByteOrder, EventFormat, Formatter, TracingData};

fuzz_target!(|input: &[u8]| {
    let _ = TracingData::decode(input);
    let end = input
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(input.len());
    let (text, record) = input.split_at(end);
    let Ok(format) = EventFormat::parse(text) else {
        return;
    };
    let mut out = Vec::new();
    Formatter::new(format, ByteOrder::Little).format(record, &mut out);
    assert!(
        !out.iter()
            .any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n')),
        "{out:?}"
    );
});
