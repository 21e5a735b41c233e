//! Kernel modules: where the code of a module's file was, and its names where the kernel's own list does not tell them.

use std::collections::HashMap;

use oxperf_objects::Elf;

use crate::demangle::Demangling;
use crate::elf::kept_symbols;
use crate::kernel::moved_table;
use crate::table::SymbolTable;

/// The mapping of a module, and what the kernel's list names there.
#[derive(Clone, Copy, Debug)]
pub struct ModuleMapping<'k> {
    /// The first address.
    pub start: u64,
    /// The address behind the last.
    pub end: u64,
    /// The kernel's list, if there is one.
    pub kernel: Option<&'k SymbolTable>,
}

/// Symbols that are compared to find out where a module's code was.
const COMPARED: usize = 64;

/// The address of the first code of a module's linked file. The kernel's list knows best: the loaders of some
/// processors put code of their own before a module's.
pub fn module_base(image: &Elf<'_>, place: ModuleMapping<'_>) -> u64 {
    let ModuleMapping { start, end, kernel } = place;
    let mut places: HashMap<&[u8], Option<u64>> = HashMap::new();
    for symbol in kept_symbols(image) {
        // A name that stands for two places tells nothing.
        places
            .entry(symbol.name)
            .and_modify(|place| *place = None)
            .or_insert(Some(symbol.value));
    }
    let listed = kernel.into_iter().flat_map(|table| {
        let first = table.symbols.partition_point(|symbol| symbol.start < start);
        let inside = table.symbols[first..]
            .iter()
            .take_while(move |symbol| symbol.start < end);
        inside
            .filter(|symbol| !symbol.is_data)
            .map(|symbol| (symbol.start, table.linkage(symbol.name)))
    });
    let begins = listed
        .filter_map(|(address, name)| Some(address.wrapping_sub((*places.get(name)?)?)))
        .take(COMPARED);
    let mut votes: HashMap<u64, usize> = HashMap::new();
    begins.for_each(|begin| *votes.entry(begin).or_default() += 1);
    votes
        .into_iter()
        .max_by_key(|(begin, count)| (*count, *begin))
        .map_or(start, |(begin, _)| begin)
}

/// The table of a module's functions, whose code began at `base` and ended before `end`.
pub(crate) fn module_table(
    image: &Elf<'_>,
    base: u64,
    end: u64,
    demangling: Demangling,
) -> SymbolTable {
    // Data lies elsewhere, nobody knows where.
    let code = kept_symbols(image).filter(|symbol| symbol.value < end.wrapping_sub(base));
    moved_table(code, base, demangling)
}
