//! Bytes as every source of names: an ELF file's tables, a list of kernel symbols, a map of code made at run time. Each
//! symbol that comes out is shown and found again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_objects::Elf;
use oxperf_symbols::{
    Demangling, ReferenceSymbol, SymbolTable, elf_table, kallsyms_table, perf_map_table,
    vmlinux_table,
};

fn ask(table: &SymbolTable) {
    for id in table.ids() {
        let symbol = table.symbol(id).expect("its own id");
        table.lookup(symbol.start);
        table.lookup(symbol.end.wrapping_sub(1));
        table.object_address(symbol.start);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let reference = ReferenceSymbol {
        symbol: b"_text",
        address: 0xffff_ffff_8100_0000,
    };
    ask(&kallsyms_table(
        bytes,
        Some(&reference),
        Demangling::default(),
    ));
    ask(&perf_map_table(bytes));
    if let Ok(elf) = Elf::parse(bytes) {
        ask(&elf_table(&elf, &elf, Vec::new(), Demangling::default()));
        ask(&vmlinux_table(&elf, Some(&reference), Demangling::Off));
        elf.build_id();
        elf.debug_link();
        elf.mini_debug_info();
    }
});
