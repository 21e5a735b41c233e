//! JSON files of tables of events, and zip archives of them: nothing may panic; what is found can be looked up again, and its
//! terms can be opened or refused.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};
use oxperf_pmu_events::EventTables;
use oxperf_pmu_events::import::files_of_zip;

fuzz_target!(|bytes: &[u8]| {
    for file in files_of_zip(Path::new("a.zip"), bytes).flatten() {
        assert!(file.contents.len() <= 64 << 20);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let tables = EventTables::of_cpu("any").with_json(Path::new("cache.json"), text);
    let pmus = MemoryPmus::new()
        .pmu("cpu", 4)
        .format("event", "config:0-7")
        .format("umask", "config:8-15");
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue::new(&pmus, &tracepoints).with_tables(&tables);
    for event in tables.events() {
        assert_eq!(tables.event(event.pmu, event.name), Some(event));
        if let Some(both) = event.scale_unit {
            let _ = (both.scale(), both.unit());
        }
        if let Ok(events) = parse(event.name) {
            let _ = resolve(&events, &catalogue);
        }
    }
    assert!(tables.metrics().all(|metric| !metric.name.is_empty()));
    for problem in tables.problems() {
        assert!(problem.line.is_none_or(|line| line >= 1));
    }
});
