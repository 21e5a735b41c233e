//! The name of frames.

use std::sync::Arc;

use oxperf_machine::{Dso, DsoId, DsoKind, Objects};
use oxperf_symbols::{DebugInfo, SymbolId, SymbolTable};
use rayon::prelude::*;

use crate::DsoAddress;
use crate::slots::Slots;

/// Finds the symbols of an object, wherever they are.
pub trait SymbolSource: Send + Sync {
    /// The object's symbols, in the address space that its places use; `None` when there are none to be had.
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>>;

    /// The object's source lines and inlined functions, in the same address space.
    fn source(&self, _: &Dso, _: &Objects) -> Option<Arc<DebugInfo>> {
        None
    }
}

/// The symbol around a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    /// The symbol in the dso's table; `None` for a dso that is a symbol itself.
    pub symbol: Option<SymbolId>,
    /// Its name; untrusted, it may hold any character.
    pub text: &'a str,
    /// Its first address.
    pub start: u64,
    /// The address behind it.
    pub end: u64,
    /// True if it names data, and not code.
    pub is_data: bool,
}

/// Symbol tables by dso, each looked for once, when it is first asked for, from whichever thread.
pub struct Names<'s> {
    source: Arc<dyn SymbolSource + 's>,
    tables: Slots<Option<Arc<SymbolTable>>>,
    sources: Slots<Option<Arc<DebugInfo>>>,
}

impl<'s> Names<'s> {
    /// Knows nothing yet; asks `source`.
    pub fn new(source: impl SymbolSource + 's) -> Names<'s> {
        Names {
            source: Arc::new(source),
            tables: Slots::default(),
            sources: Slots::default(),
        }
    }

    /// Reads the symbols of several dsos at once, on all cores.
    pub fn load(&self, objects: &Objects, dsos: &[DsoId]) {
        // Other cores are not woken for what is there.
        let missing: Vec<DsoId> = dsos
            .iter()
            .copied()
            .filter(|dso| !self.has_looked_for(*dso))
            .collect();
        missing.par_iter().with_max_len(1).for_each(|dso| {
            self.table(objects, *dso);
        });
    }

    /// Gives back the memory of the files that names were read of; it comes again with the next name.
    pub fn release_files(&self) {
        let tables = self.tables.made().flatten();
        tables.for_each(|table| table.release_files());
    }

    /// Returns whether the symbols of a dso were looked for.
    pub fn has_looked_for(&self, dso: DsoId) -> bool {
        self.tables.has(dso.0)
    }

    /// The table of a dso.
    #[inline]
    pub fn table(&self, objects: &Objects, dso: DsoId) -> Option<&SymbolTable> {
        self.tables
            .get(dso.0, || self.source.table(objects.dso(dso), objects))
            .as_deref()
    }

    /// The source lines and inlined functions of a dso.
    #[inline]
    pub fn source(&self, objects: &Objects, dso: DsoId) -> Option<&DebugInfo> {
        self.sources
            .get(dso.0, || self.source.source(objects.dso(dso), objects))
            .as_deref()
    }

    /// The address of a place as its object's own tools know it.
    pub fn object_address(&self, objects: &Objects, place: &DsoAddress) -> u64 {
        self.table(objects, place.dso)
            .map_or(place.address, |table| table.object_address(place.address))
    }

    /// The symbol of its dso's table that holds a place; `None` where none does, and in dsos that are symbols
    /// themselves.
    #[inline]
    pub fn symbol(&self, objects: &Objects, place: &DsoAddress) -> Option<SymbolId> {
        let dso = objects.dso(place.dso);
        match dso.kind == DsoKind::KernelSymbol || dso.jit.is_some() {
            true => None,
            false => self.table(objects, place.dso)?.lookup(place.address),
        }
    }

    /// The symbol around a place; `None` where no symbol is known.
    #[inline]
    pub fn name<'m>(&'m self, objects: &'m Objects, place: &DsoAddress) -> Option<Name<'m>> {
        let dso = objects.dso(place.dso);
        if dso.kind == DsoKind::KernelSymbol {
            return Some(Name {
                symbol: None,
                text: &dso.name,
                start: 0,
                end: u64::MAX,
                is_data: false,
            });
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
        let table = self.table(objects, place.dso)?;
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
