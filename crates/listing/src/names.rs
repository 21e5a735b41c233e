//! Names of addresses as `objdump` has them: the symbol at or before, with the distance.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use object::elf;
use oxperf_objects::Elf;
use oxperf_objects::elf::{
    ElfSection, ElfSymbol, FileType, SymbolBinding, SymbolKind, SymbolSection, UnnamedSymbol,
};
use oxperf_symbols::{Demangling, StubTarget, demangle, linkage_stubs};
use rayon::prelude::*;

use crate::versions::Versions;

/// The symbols of a binary by virtual address. Their names stay in its files: of hundreds of thousands a function's
/// code needs a few.
#[derive(Debug, Default)]
pub struct CodeIndex {
    /// In order; several may have one address.
    symbols: Vec<Entry>,
    stubs: Vec<Stub>,
    /// Words that the loader writes the address of a symbol into: words by address, with the number of the symbol.
    words: HashMap<u64, u32>,
    /// Of the symbols for the loader.
    versions: Versions,
}

/// A symbol, in the order in which those of one address are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    address: u64,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// By its number in the table.
    Table(u32),
    /// By its place among the stubs.
    Stub(u32),
}

/// A stub of the linkage table.
#[derive(Debug)]
struct Stub {
    address: u64,
    name: String,
}

impl CodeIndex {
    /// Reads the symbols of a binary: its full table or that of its debug file, else those for the loader; and the
    /// stubs of its linkage table.
    pub fn new(image: &Elf<'_>, debug_file: Option<&Elf<'_>>) -> CodeIndex {
        let table = Table::of(image, debug_file);
        // Static programs call code that is chosen at load time through stubs, too, but those have no names.
        let for_loader = || {
            image
                .section_of_kind(elf::SHT_DYNSYM)
                .map(|_| (stubs(image), words(image)))
        };
        let (symbols, for_loader) = rayon::join(|| table.map(Table::entries), for_loader);
        let (stubs, words) = for_loader.unwrap_or_default();
        let mut symbols = symbols.unwrap_or_default();
        let entry = |(nth, stub): (u32, &Stub)| Entry {
            address: stub.address,
            origin: Origin::Stub(nth),
        };
        symbols.extend((0..).zip(&stubs).map(entry));
        symbols.par_sort_unstable();
        CodeIndex {
            symbols,
            stubs,
            words,
            versions: Versions::read(image),
        }
    }
}

fn stubs(image: &Elf<'_>) -> Vec<Stub> {
    let stub = |stub: oxperf_symbols::Stub<'_>| {
        let name = match stub.target {
            StubTarget::Lookup => return None,
            StubTarget::Function(name) => String::from_utf8_lossy(name).into_owned(),
            StubTarget::Chosen(by) => format!("*ABS*+{by:#x}"),
        };
        Some(Stub {
            address: image.offset_to_address(stub.start)?,
            name,
        })
    };
    linkage_stubs(image).into_iter().filter_map(stub).collect()
}

/// The words that relocations of the loader fill in with the address of a symbol.
fn words(image: &Elf<'_>) -> HashMap<u64, u32> {
    let sections = [&b".rela.dyn"[..], b".rela.plt"]
        .into_iter()
        .filter_map(|name| image.section(name));
    let relocations = sections.flat_map(|section| image.relocations(section));
    let of_symbols = relocations.filter(|relocation| relocation.symbol > 0);
    of_symbols
        .map(|relocation| (relocation.address, relocation.symbol))
        .collect()
}

/// A table of symbols.
#[derive(Clone, Copy)]
struct Table<'f> {
    file: &'f Elf<'f>,
    section: &'f ElfSection<'f>,
    /// True if these are the symbols for the loader, which are shown with their versions.
    for_loader: bool,
}

impl<'f> Table<'f> {
    fn of(image: &'f Elf<'f>, debug_file: Option<&'f Elf<'f>>) -> Option<Table<'f>> {
        let full = [Some(image), debug_file]
            .into_iter()
            .flatten()
            .find(|file| file.has_symtab());
        let (file, kind) = full.map_or((image, elf::SHT_DYNSYM), |file| (file, elf::SHT_SYMTAB));
        let section = file.section_of_kind(kind)?;
        Some(Table {
            file,
            section,
            for_loader: full.is_none(),
        })
    }

    /// Its symbols, as they stand.
    fn entries(self) -> Vec<Entry> {
        let entry = |symbol: UnnamedSymbol| {
            let address = address_of(
                self.file,
                symbol.value,
                place_of(symbol.kind, symbol.place)?,
            );
            symbol.has_name.then_some(Entry {
                address,
                origin: Origin::Table(symbol.number),
            })
        };
        self.file
            .unnamed_symbols(self.section)
            .filter_map(entry)
            .collect()
    }
}

/// The name of the addresses of a binary.
#[derive(Clone, Copy)]
pub struct CodeNames<'f> {
    index: &'f CodeIndex,
    table: Option<Table<'f>>,
    loader: Option<(&'f Elf<'f>, &'f ElfSection<'f>)>,
    demangling: Demangling,
}

/// A symbol with its name.
struct Named<'f> {
    address: u64,
    /// The number of its section; `None` for a stub of the linkage table.
    section: Option<u16>,
    rank: Rank,
    /// The linker's name, then what is appended to it: a version, `@plt`.
    name: Cow<'f, str>,
    suffix: Cow<'f, str>,
}

/// The rank of a symbol at its address: the least is shown.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    no_function: bool,
    no_object: bool,
    reach: Reach,
    size: Reverse<u64>,
    begins_with_dot: bool,
}

/// The visibility of a name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Everybody,
    /// Everybody, unless there is another definition.
    Weakly,
    ItsFile,
}

impl<'f> CodeNames<'f> {
    /// Names by the index of the same files.
    pub fn new(
        index: &'f CodeIndex,
        image: &'f Elf<'f>,
        debug_file: Option<&'f Elf<'f>>,
        demangling: Demangling,
    ) -> CodeNames<'f> {
        let loader = image
            .section_of_kind(elf::SHT_DYNSYM)
            .map(|section| (image, section));
        CodeNames {
            index,
            table: Table::of(image, debug_file),
            loader,
            demangling,
        }
    }

    /// Appends the name of an address, `main+0x10`; `false` if the binary has no symbol. A word that the loader fills
    /// in has the name of what it then points to.
    pub fn write(&self, address: u64, out: &mut String) -> bool {
        let Some(symbol) = self.around(address) else {
            return false;
        };
        match self.word(address).filter(|_| symbol.address != address) {
            Some((number, symbol)) => self.write_word(number, &symbol, address, out),
            None => self.write_symbol(&symbol, address, out),
        }
        true
    }

    /// Appends the name of an address by the symbols of its section alone; where there are none, by the section's.
    pub(crate) fn write_label(
        &self,
        address: u64,
        index: u16,
        section: &ElfSection<'_>,
        out: &mut String,
    ) {
        let inside = |symbol: &Named<'_>| symbol.section == Some(index);
        let last = self.before(address).next();
        let stub = last.filter(|symbol| symbol.section.is_none() && symbol.address == address);
        let found = stub.or_else(|| self.before(address).find(inside));
        match found.or_else(|| self.behind(address).find(inside)) {
            Some(symbol) => self.write_symbol(&symbol, address, out),
            None => {
                let name = String::from_utf8_lossy(section.name);
                self.write_parts(&name, "", Some(section.address), address, out);
            }
        }
    }

    /// The first address behind `address` that has a symbol of its own.
    pub fn next(&self, address: u64) -> Option<u64> {
        self.behind(address).next().map(|symbol| symbol.address)
    }

    /// The linker's name of what begins at an address, or before it, with the distance.
    pub(crate) fn linker_name(&self, address: u64) -> Option<(Cow<'f, str>, u64)> {
        let symbol = self.around(address)?;
        Some((symbol.name, address.checked_sub(symbol.address)?))
    }

    /// The symbol at or before an address; before all of them the first.
    fn around(&self, address: u64) -> Option<Named<'f>> {
        self.before(address)
            .next()
            .or_else(|| self.behind(address).next())
    }

    /// The symbols at and before an address, the last first, one for each address.
    fn before(&self, address: u64) -> impl Iterator<Item = Named<'f>> + '_ {
        let before = &self.index.symbols[..self.after(address)];
        before
            .chunk_by(|a, b| a.address == b.address)
            .rev()
            .filter_map(|entries| self.best(entries))
    }

    /// The symbols behind an address, one for each address.
    fn behind(&self, address: u64) -> impl Iterator<Item = Named<'f>> + '_ {
        let behind = &self.index.symbols[self.after(address)..];
        behind
            .chunk_by(|a, b| a.address == b.address)
            .filter_map(|entries| self.best(entries))
    }

    fn after(&self, address: u64) -> usize {
        self.index
            .symbols
            .partition_point(|symbol| symbol.address <= address)
    }

    /// The symbol at an address that is shown; versions of one name stay in the order of the table.
    fn best(&self, entries: &[Entry]) -> Option<Named<'f>> {
        let named = entries.iter().filter_map(|entry| self.named(entry));
        named.min_by(|a, b| (&a.rank, &a.name).cmp(&(&b.rank, &b.name)))
    }

    fn named(&self, entry: &Entry) -> Option<Named<'f>> {
        match entry.origin {
            Origin::Table(number) => self.of_table(number),
            Origin::Stub(nth) => {
                let name = Cow::Borrowed(self.index.stubs.get(nth as usize)?.name.as_str());
                let (section, address, suffix) = (None, entry.address, Cow::Borrowed("@plt"));
                Some(Named {
                    address,
                    section,
                    rank: Rank::STUB,
                    name,
                    suffix,
                })
            }
        }
    }

    fn of_table(&self, number: u32) -> Option<Named<'f>> {
        let Table {
            file,
            section,
            for_loader,
        } = self.table?;
        let symbol = file
            .symbol_at(section, number)
            .filter(|symbol| !symbol.name.is_empty())?;
        let place = place_of(symbol.kind, symbol.place)?;
        let suffix = if for_loader {
            self.index.versions.suffix(number as usize)
        } else {
            String::new()
        };
        Some(Named {
            address: address_of(file, symbol.value, place),
            section: Some(place),
            rank: Rank::of(&symbol),
            name: String::from_utf8_lossy(symbol.name),
            suffix: Cow::Owned(suffix),
        })
    }

    /// The symbol whose address the loader writes to an address, with its number.
    fn word(&self, address: u64) -> Option<(u32, ElfSymbol<'f>)> {
        let (file, section) = self.loader?;
        let number = *self.index.words.get(&address)?;
        Some((number, file.symbol_at(section, number)?))
            .filter(|(_, symbol)| !symbol.name.is_empty())
    }

    fn write_word(&self, number: u32, symbol: &ElfSymbol<'_>, address: u64, out: &mut String) {
        let name = String::from_utf8_lossy(symbol.name);
        let suffix = self.index.versions.suffix(number as usize);
        match symbol.place {
            // Without a definition here no version is the file's default.
            SymbolSection::Undefined => {
                self.write_parts(&name, &suffix.replace("@@", "@"), None, address, out)
            }
            _ => self.write_parts(&name, &suffix, Some(symbol.value), address, out),
        }
    }

    fn write_symbol(&self, symbol: &Named<'_>, address: u64, out: &mut String) {
        self.write_parts(
            &symbol.name,
            &symbol.suffix,
            Some(symbol.address),
            address,
            out,
        );
    }

    fn write_parts(
        &self,
        name: &str,
        suffix: &str,
        from: Option<u64>,
        address: u64,
        out: &mut String,
    ) {
        let shown = match self.demangling {
            Demangling::On => demangle(name),
            Demangling::Off => None,
        };
        out.push_str(shown.as_deref().unwrap_or(name));
        out.push_str(suffix);
        // Writing to a string cannot fail.
        let _ = match from {
            Some(from) if from < address => write!(out, "+{:#x}", address - from),
            Some(from) if from > address => write!(out, "-{:#x}", from - address),
            _ => Ok(()),
        };
    }
}

impl Rank {
    const STUB: Rank = Rank {
        no_function: true,
        no_object: true,
        reach: Reach::Everybody,
        size: Reverse(0),
        begins_with_dot: false,
    };

    fn of(symbol: &ElfSymbol<'_>) -> Rank {
        Rank {
            no_function: symbol.kind != SymbolKind::Function,
            no_object: symbol.kind != SymbolKind::Object,
            reach: match symbol.binding {
                SymbolBinding::Global => Reach::Everybody,
                SymbolBinding::Weak | SymbolBinding::Other(_) => Reach::Weakly,
                SymbolBinding::Local => Reach::ItsFile,
            },
            size: Reverse(symbol.size),
            begins_with_dot: symbol.name.starts_with(b"."),
        }
    }
}

/// The section of a symbol that names a place.
fn place_of(kind: SymbolKind, place: SymbolSection) -> Option<u16> {
    // Of the other kinds only data of threads has places among the rest.
    if matches!(kind, SymbolKind::Other(kind) if kind != elf::STT_TLS) {
        return None;
    }
    match place {
        SymbolSection::Section(index) => Some(index),
        SymbolSection::Reserved(elf::SHN_ABS) => Some(elf::SHN_ABS),
        SymbolSection::Undefined | SymbolSection::Reserved(_) => None,
    }
}

/// The virtual address of a symbol of a section.
fn address_of(file: &Elf<'_>, value: u64, section: u16) -> u64 {
    if file.file_type() != FileType::Relocatable {
        return value;
    }
    let base = file
        .sections()
        .get(usize::from(section))
        .map_or(0, |section| section.address);
    value.wrapping_add(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_others_come_before_those_of_a_file() {
        let rank = |binding, size| {
            let (name, kind) = (b"f", SymbolKind::Function);
            let place = SymbolSection::Section(1);
            Rank::of(&ElfSymbol {
                name,
                value: 0,
                size,
                kind,
                binding,
                hidden: false,
                place,
            })
        };
        let [global, weak, local] = [
            SymbolBinding::Global,
            SymbolBinding::Weak,
            SymbolBinding::Local,
        ]
        .map(|of| rank(of, 8));
        assert!(global < weak && weak < local);
        // Of equal reach the larger one.
        assert!(rank(SymbolBinding::Weak, 9) < weak && rank(SymbolBinding::Local, 9) > weak);
    }
}
