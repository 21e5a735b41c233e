//! Bytes as a compressed `.gnu_debugdata` section: unpacking ends within its limit, and what comes out is read as the
//! symbols that a program carries along.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_fuzz::program;
use oxperf_objects::Elf;
use oxperf_symbols::{Demangling, elf_table};

/// What bytes may grow to, and what a tiny section may grow to.
const RATIO: usize = 1100;
const SMALL: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let file = program(".gnu_debugdata", bytes);
    let elf = Elf::parse(&file).expect("a program");
    let Some(carried) = elf.mini_debug_info() else {
        return;
    };
    assert!(carried.len() <= SMALL.max(RATIO * bytes.len()));
    let Ok(inner) = Elf::parse(&carried) else {
        return;
    };
    let table = elf_table(&elf, &inner, Vec::new(), Demangling::default());
    assert!(table.ids().all(|id| table.symbol(id).is_some()));
});
