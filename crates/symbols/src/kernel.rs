//! Where the names of a recorded kernel come from.

use oxperf_objects::Elf;
use oxperf_objects::elf::{ElfSymbol, SymbolKind};

use crate::builder::build;
use crate::demangle::Demangling;
use crate::elf::{kept_symbols, shift_of};
use crate::entry::{SymbolEntry, SymbolName};
use crate::table::SymbolTable;

/// One symbol of the recorded kernel with its address then: kernels may lie elsewhere after each boot.
///
/// A recording's kernel mapping is called `[kernel.kallsyms]_text`; the page offset is the address of `_text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReferenceSymbol<'a> {
    /// The symbol's name.
    pub symbol: &'a [u8],
    /// Its address while recording.
    pub address: u64,
}

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
