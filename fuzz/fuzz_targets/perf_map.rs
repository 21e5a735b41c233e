//! Bytes as a list of code that was made at run time (`perf-PID.map`): symbols stand in order, and each is found by its
//! first and last address.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_symbols::perf_map_table;

fuzz_target!(|text: &[u8]| {
    let table = perf_map_table(text);
    let mut last = None;
    for id in table.ids() {
        let symbol = table.symbol(id).expect("its own id");
        assert!(!symbol.name.is_empty() && last.is_none_or(|last| last <= symbol.start));
        last = Some(symbol.start);
        if symbol.start < symbol.end {
            assert_eq!(table.lookup(symbol.start), Some(id));
        }
    }
    assert!(table.ids().count() <= text.len() / 5);
});
