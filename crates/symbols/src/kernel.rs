//! The names of a recorded kernel, from its image.

use oxperf_objects::Elf;
use oxperf_objects::elf::{ElfSymbol, SymbolKind};

use crate::builder::build;
use crate::demangle::Demangling;
use crate::elf::{kept_symbols, shift_of};
use crate::entry::{SymbolEntry, SymbolName};
use crate::reference_symbol::ReferenceSymbol;
use crate::table::SymbolTable;

/// The table of a kernel image (`vmlinux`), by absolute address.
pub fn vmlinux_table(
    image: &Elf<'_>,
    reference: Option<&ReferenceSymbol<'_>>,
    demangling: Demangling,
) -> SymbolTable {
    let shift = reference.map_or(0, |reference| shift_of(image, reference));
    moved_table(kept_symbols(image), shift, demangling)
}

/// The table of symbols that lay so far above their addresses in the file.
pub(crate) fn moved_table<'a>(
    symbols: impl Iterator<Item = ElfSymbol<'a>>,
    shift: u64,
    demangling: Demangling,
) -> SymbolTable {
    build(
        symbols.map(|symbol| entry(&symbol, shift)).collect(),
        demangling,
    )
}

fn entry<'a>(symbol: &ElfSymbol<'a>, shift: u64) -> SymbolEntry<'a> {
    SymbolEntry {
        start: symbol.value.wrapping_add(shift),
        size: (symbol.size > 0).then_some(symbol.size),
        name: SymbolName::plain(symbol.name),
        binding: symbol.binding,
        is_data: symbol.kind == SymbolKind::Object,
    }
}
