//! The formats of all tracepoints of a recording, and a record for them: the text that comes out holds no control
//! characters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_tracepoint::{Formatters, NoSymbols, TracingData};

fuzz_target!(|input: (&[u8], &[u8])| {
    let (record, bytes) = input;
    let Ok(data) = TracingData::decode(bytes) else {
        return;
    };
    let mut out = Vec::new();
    Formatters::new(&data).format(record, &NoSymbols, &mut out);
    assert!(
        !out.iter()
            .any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n')),
        "{out:?}"
    );
});
