//! Event text against a made-up catalogue with every kind of PMU: nothing may panic, every mistake has its place in the text,
//! and leaders stand before their members. The same text as filters of addresses: what the kernel gets is one filter again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_pmu::address_filter::{self, CodePlaces, CodeRange, SymbolReference};
use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};

/// Two kinds of cores with slots, PMUs that differ by number, a trace, names that the kernel would not give.
fn pmus() -> MemoryPmus {
    MemoryPmus::new()
        .pmu("cpu_atom", 10)
        .file("cpus", "2-3")
        .format("event", "config:0-7")
        .format("umask", "config:8-15")
        .event("mem-loads", "event=0xd0,umask=0x5,ldlat=3")
        .pmu("cpu_core", 4)
        .file("cpus", "0-1")
        .format("event", "config:0-7,32-35")
        .format("umask", "config:8-15")
        .format("ldlat", "config1:0-15")
        .event("slots", "event=0x00,umask=0x4")
        .event("topdown-retiring", "event=0x00,umask=0x80")
        .event("mem-loads-aux", "event=0x03,umask=0x82")
        .event("param", "event=?,umask=?")
        .event("broken", "event=zz,,=")
        .pmu("uncore_imc_0", 20)
        .file("cpumask", "0")
        .format("event", "config:0-7")
        .event("reads", "event=0x4")
        .event("reads.scale", "6.1e-5")
        .pmu("uncore_imc_1", 21)
        .format("event", "config:63-0")
        .event("reads", "event=0x4")
        .pmu("intel_pt", 11)
        .format("tsc", "config:10")
        .pmu("msr", 13)
        .event("tsc", "event=0")
        .pmu("software", 1)
}

/// Each symbol is where its name's length says; one in four has no size.
struct Places;

impl CodePlaces for Places {
    type Error = ();

    fn symbol(&self, _: Option<&str>, symbol: &SymbolReference) -> Result<CodeRange, ()> {
        let start = symbol.name.len() as u64;
        let size = (start % 4 != 0).then_some(u64::MAX - 8);
        Ok(CodeRange { start, size })
    }

    fn everything(&self, _: Option<&str>) -> Result<CodeRange, ()> {
        Ok(CodeRange {
            start: u64::MAX,
            size: Some(1),
        })
    }

    fn real_path(&self, _: &str) -> Result<String, ()> {
        Ok("/file".to_owned())
    }
}

fn check_address_filters(text: &str) {
    let filters = address_filter::parse(text).unwrap_or_default();
    assert!(filters.len() <= text.len());
    for filter in filters {
        if let Ok(resolved) = filter.resolve(&Places) {
            let again = address_filter::parse(&resolved.to_string());
            assert_eq!(again.map(|all| all.len()), Ok(1), "{resolved}");
        }
    }
}

fuzz_target!(|text: &str| {
    check_address_filters(text);
    let pmus = pmus();
    let tracepoints = MemoryTracepoints::default()
        .with("sched", "sched_switch", 7)
        .with("sched", "sched_wakeup", 8);
    let catalogue = Catalogue::new(&pmus, &tracepoints);
    match parse(text).and_then(|events| resolve(&events, &catalogue)) {
        Ok(events) => {
            for (index, event) in events.iter().enumerate() {
                assert!(event.leader.is_none_or(|leader| leader < index));
            }
        }
        Err(error) => assert!(!error.problems.is_empty() && !error.render(80).is_empty()),
    }
});
