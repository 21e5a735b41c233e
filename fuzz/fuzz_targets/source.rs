//! Bytes as an ELF file with debug information, asked about many places: no panic, no endless walk.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_symbols::{DebugInfo, Demangling};

fuzz_target!(|bytes: &[u8]| {
    let Some(info) = DebugInfo::in_memory(bytes.to_vec(), Demangling::default()) else {
        return;
    };
    for offset in (0..0x4000).step_by(5) {
        info.frames(offset);
    }
    info.lines_between(0, u64::MAX);
});
