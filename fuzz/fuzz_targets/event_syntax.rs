//! Event text against a small catalogue: nothing may panic, and every mistake has its place in the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};

fuzz_target!(|text: &str| {
    let pmus = MemoryPmus::new()
        .pmu("cpu", 4)
        .format("event", "config:0-7,32-35")
        .format("umask", "config:8-15");
    let tracepoints = MemoryTracepoints::default();
    if let Ok(events) = parse(text) {
        let _ = resolve(&events, &Catalogue::new(&pmus, &tracepoints));
    }
});
