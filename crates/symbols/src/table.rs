//! The names of one object by address.

use oxperf_objects::Elf;
use oxperf_objects::elf::SymbolBinding;

use crate::demangle::Demangling;
use crate::display_names::{DisplayNames, compare_display_names};
use crate::names::{NameTexts, StoredName};
use crate::names_from::NamesFrom;
use crate::segments::Segments;
use crate::spans::Spans;
use crate::symbol_prefilter::SymbolPrefilter;

/// The number of a symbol in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// One symbol of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Address of the first byte.
    pub start: u64,
    /// Address behind the last byte.
    pub end: u64,
    /// The name for the reader: demangled where the table does so. Untrusted: it may hold any character.
    pub name: &'a str,
    /// Its visibility to other files.
    pub binding: SymbolBinding,
    /// True if it names data, and not code.
    pub is_data: bool,
}

/// Sorted symbols with their names.
///
/// The meaning of an address depends on the source: an offset into the file for ELF objects, an absolute address for
/// the kernel, a virtual address for code that was made at run time.
#[derive(Debug, Default)]
pub struct SymbolTable {
    pub(crate) symbols: Vec<Stored>,
    /// Further names of symbols, by symbol: the best is shown.
    pub(crate) aliases: Vec<(SymbolId, StoredName)>,
    pub(crate) names: NameTexts,
    pub(crate) spans: Spans<SymbolId>,
    pub(crate) shown: DisplayNames,
    pub(crate) demangling: Demangling,
    /// Only a symbol among whose names one has these words is shown as in the source: nobody asks for the others.
    pub(crate) only_with: Option<SymbolPrefilter>,
    /// The virtual addresses of the object's bytes; none where the table knows no other addresses.
    pub(crate) image: Segments,
    /// The origin of the names, as far as that is known.
    pub(crate) names_from: Option<NamesFrom>,
}

/// One symbol as the table keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: StoredName,
    pub(crate) binding: SymbolBinding,
    pub(crate) is_data: bool,
}

impl SymbolTable {
    /// Number of symbols that the table holds.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns whether there is no symbol at all.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Gives back the memory of the files that names stand in; it comes again with the next name.
    pub fn release_files(&self) {
        self.names.release_files();
    }

    /// The symbol that holds this address: the innermost where one lies in another.
    pub fn lookup(&self, address: u64) -> Option<SymbolId> {
        self.spans.find(address)
    }

    /// Returns whether a symbol begins at one of these addresses.
    pub fn names_any(&self, addresses: std::ops::Range<u64>) -> bool {
        let first = self
            .symbols
            .partition_point(|symbol| symbol.start < addresses.start);
        self.symbols
            .get(first)
            .is_some_and(|symbol| symbol.start < addresses.end)
    }

    /// The symbol of an id that this table gave. Its name is demangled on the first request.
    pub fn symbol(&self, id: SymbolId) -> Option<Symbol<'_>> {
        let index = usize::try_from(id.0).ok()?;
        let stored = self.symbols.get(index)?;
        let name = self.shown.get(index, || self.best(id, stored.name).1)?;
        let Stored {
            start,
            end,
            binding,
            is_data,
            ..
        } = *stored;
        Some(Symbol {
            start,
            end,
            name,
            binding,
            is_data,
        })
    }

    /// The linker's name of a symbol, as its source spells it.
    pub fn linkage_name(&self, id: SymbolId) -> Option<&[u8]> {
        let stored = self.symbols.get(usize::try_from(id.0).ok()?)?;
        Some(self.linkage(self.best(id, stored.name).0))
    }

    /// The best of a symbol's names, the first one or an alias, and how it reads.
    fn best(&self, id: SymbolId, first: StoredName) -> (StoredName, Box<str>) {
        let from = self.aliases.partition_point(|(of, _)| *of < id);
        let aliases = self.aliases[from..]
            .iter()
            .take_while(|(of, _)| *of == id)
            .map(|(_, name)| *name);
        let is_wanted = |words: &SymbolPrefilter| {
            std::iter::once(first)
                .chain(aliases.clone())
                .any(|name| words.may_stand_among(self.linkage(name)))
        };
        let wanted = self.only_with.as_ref().is_none_or(is_wanted);
        let demangling = if wanted {
            self.demangling
        } else {
            Demangling::Off
        };
        let show = |name: StoredName| {
            (
                name,
                demangling.show(self.linkage(name), name.suffix.text()),
            )
        };
        aliases.map(show).fold(show(first), |kept, other| {
            if compare_display_names(&kept.1, &other.1).is_lt() {
                other
            } else {
                kept
            }
        })
    }

    /// The table of an object with this image.
    pub(crate) fn within(self, image: &Elf<'_>) -> SymbolTable {
        SymbolTable {
            image: Segments::of(image),
            ..self
        }
    }

    /// The origin of the names; `None` of a table that no store made.
    pub fn names_from(&self) -> Option<NamesFrom> {
        self.names_from
    }

    /// The table for somebody who asks for one name alone, if for any.
    pub(crate) fn asked_for(self, only_with: Option<SymbolPrefilter>) -> SymbolTable {
        SymbolTable { only_with, ..self }
    }

    /// The virtual address of the table's address: what objdump and addr2line call it.
    pub fn object_address(&self, address: u64) -> u64 {
        self.image.address(address).unwrap_or(address)
    }

    /// All ids in order of address.
    pub fn ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..u32::try_from(self.symbols.len()).unwrap_or(u32::MAX)).map(SymbolId)
    }

    /// The linker's name as the table keeps it.
    pub(crate) fn linkage(&self, name: StoredName) -> &[u8] {
        self.names.get(name)
    }
}
