#![no_main]
//! What programs say about code that they made at run time: logs (jitdump) and lists of names (perf-PID.map).

use libfuzzer_sys::fuzz_target;
use oxperf_symbols::perf_map_table;
use oxperf_wire::JitDump;

fuzz_target!(|input: &[u8]| {
    if let Ok(dump) = JitDump::parse(input) {
        // A record is no smaller than its header.
        assert!(dump.code.len() <= input.len() / 16);
    }
    let table = perf_map_table(input);
    assert!(table.ids().all(|id| table.symbol(id).is_some()));
});
