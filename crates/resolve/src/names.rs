//! What frames are called.

use std::sync::{Arc, OnceLock};

use oxperf_machine::{Dso, DsoId, DsoKind, Machine};
use oxperf_symbols::{DebugInfo, SymbolId, SymbolTable};
use rayon::prelude::*;

use crate::Place;

/// Finds the symbols of an object, wherever they are.
pub trait SymbolSource: Sync {
    /// The object's symbols, in the address space that its places use; `None` when there are none to be had.
    fn table(&self, dso: &Dso, machine: &Machine) -> Option<Arc<SymbolTable>>;

    /// The object's source lines and inlined functions, in the same address space.
    fn source(&self, _: &Dso, _: &Machine) -> Option<Arc<DebugInfo>> {
        None
    }
}

/// The symbol around a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    /// Which symbol of the dso's table; `None` for a dso that is a symbol itself.
    pub symbol: Option<SymbolId>,
    /// Its name; untrusted, it may hold any character.
    pub text: &'a str,
    /// Its first address.
    pub start: u64,
    /// The address behind it.
    pub end: u64,
    /// Whether it names data, and not code.
    pub is_data: bool,
}

/// Symbol tables by dso, each looked for once, when it is first asked for.
pub struct Names<'s> {
    source: &'s dyn SymbolSource,
    tables: Vec<OnceLock<Option<Arc<SymbolTable>>>>,
    sources: Vec<OnceLock<Option<Arc<DebugInfo>>>>,
}

impl<'s> Names<'s> {
    /// Knows nothing yet; asks `source`.
    pub fn new(source: &'s dyn SymbolSource) -> Names<'s> {
        Names { source, tables: Vec::new(), sources: Vec::new() }
    }

    /// Where symbols come from.
    pub fn symbol_source(&self) -> &'s dyn SymbolSource {
        self.source
    }

    /// Makes room for the dsos that the machine has by now.
    pub fn grow(&mut self, machine: &Machine) {
        let count = machine.dsos().len().max(self.tables.len());
        self.tables.resize_with(count, OnceLock::new);
        self.sources.resize_with(count, OnceLock::new);
    }

    /// Reads the symbols of several dsos at once, on all cores.
    pub fn load(&mut self, machine: &Machine, dsos: &[DsoId]) {
        self.grow(machine);
        let names = &*self;
        dsos.par_iter().with_max_len(1).for_each(|dso| {
            names.table(machine, *dso);
        });
    }

    /// The table of a dso.
    #[inline]
    pub fn table(&self, machine: &Machine, dso: DsoId) -> Option<&SymbolTable> {
        let slot = self.tables.get(dso.0 as usize)?;
        slot.get_or_init(|| self.source.table(machine.dso(dso), machine)).as_deref()
    }

    /// The source lines and inlined functions of a dso.
    #[inline]
    pub fn source(&self, machine: &Machine, dso: DsoId) -> Option<&DebugInfo> {
        let slot = self.sources.get(dso.0 as usize)?;
        slot.get_or_init(|| self.source.source(machine.dso(dso), machine)).as_deref()
    }

    /// The address of a place as its object's own tools know it.
    pub fn object_address(&self, machine: &Machine, place: &Place) -> u64 {
        self.table(machine, place.dso).map_or(place.address, |table| table.object_address(place.address))
    }

    /// The symbol around a place; `None` where no symbol is known.
    #[inline]
    pub fn name<'m>(&'m self, machine: &'m Machine, place: &Place) -> Option<Name<'m>> {
        let dso = machine.dso(place.dso);
        if dso.kind == DsoKind::KernelSymbol {
            return Some(Name { symbol: None, text: &dso.name, start: 0, end: u64::MAX, is_data: false });
        }
        if let Some(symbol) = &dso.jit {
            return Some(Name {
                symbol: None,
                text: &symbol.name,
                start: symbol.start,
                end: symbol.end,
                is_data: false,
            });
        }
        let table = self.table(machine, place.dso)?;
        let id = table.lookup(place.address)?;
        let symbol = table.symbol(id)?;
        Some(Name {
            symbol: Some(id),
            text: symbol.name,
            start: symbol.start,
            end: symbol.end,
            is_data: symbol.is_data,
        })
    }
}
