//! What `objdump` calls addresses: the symbol at or before, with the distance.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;

use object::elf;
use oxperf_objects::Elf;
use oxperf_objects::elf::{ElfSymbol, Section, SymbolBinding, SymbolKind, SymbolPlace};
use oxperf_symbols::{Demangling, StubTarget, demangle, linkage_stubs};

use crate::versions::Versions;

/// The symbols of a binary by virtual address, one for each address.
#[derive(Debug, Default)]
pub struct CodeNames {
    symbols: Vec<Named>,
    /// What the loader writes the address of a symbol into: words by address.
    words: HashMap<u64, Word>,
    demangling: Demangling,
}

/// A symbol as a relocation means it.
#[derive(Debug)]
struct Word {
    /// Its address; `None` if another file has it.
    address: Option<u64>,
    name: String,
    suffix: String,
}

#[derive(Debug)]
struct Named {
    address: u64,
    /// The number of its section; `None` for a stub of the linkage table.
    section: Option<u16>,
    rank: Rank,
    /// The linker's name, then what is appended to it: a version, `@plt`.
    name: String,
    suffix: String,
}

/// Which symbol of an address is shown: the least.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    no_function: bool,
    no_object: bool,
    no_global: bool,
    size: Reverse<u64>,
    begins_with_dot: bool,
}

impl CodeNames {
    /// Reads the symbols of a binary: its full table or that of its debug file, else those for the loader; and the
    /// stubs of its linkage table.
    pub fn new(image: &Elf<'_>, debug_file: Option<&Elf<'_>>, demangling: Demangling) -> CodeNames {
        let full = [Some(image), debug_file].into_iter().flatten().find(|file| file.has_symtab());
        let mut symbols = match full {
            Some(file) => full_table(file),
            None => loader_table(image),
        };
        // Static programs call code that is chosen at load time through stubs, too, but those have no names.
        if image.section_of_kind(elf::SHT_DYNSYM).is_some() {
            symbols.extend(stubs(image));
        }
        symbols.sort_by(|a, b| a.key().cmp(&b.key()));
        symbols.dedup_by_key(|symbol| symbol.address);
        CodeNames { symbols, words: words(image), demangling }
    }

    /// Appends the name of an address, `main+0x10`; `false` if the binary has no symbol. A word that the loader fills
    /// in has the name of what it then points to.
    pub fn write(&self, address: u64, out: &mut String) -> bool {
        let Some(symbol) = self.around(address) else { return false };
        match self.words.get(&address).filter(|_| symbol.address != address) {
            Some(word) => self.write_parts(&word.name, &word.suffix, word.address, address, out),
            None => self.write_parts(&symbol.name, &symbol.suffix, Some(symbol.address), address, out),
        }
        true
    }

    /// Appends the name of an address by the symbols of its section alone; where there are none, by the section's.
    pub(crate) fn write_label(&self, address: u64, (index, section): (u16, &Section<'_>), out: &mut String) {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let (before, behind) = self.symbols.split_at(after);
        let inside = |symbol: &&Named| symbol.section == Some(index);
        let stub = before.last().filter(|symbol| symbol.section.is_none() && symbol.address == address);
        let found = stub.or_else(|| before.iter().rev().find(inside)).or_else(|| behind.iter().find(inside));
        match found {
            Some(symbol) => {
                self.write_parts(&symbol.name, &symbol.suffix, Some(symbol.address), address, out);
            }
            None => {
                let name = String::from_utf8_lossy(section.name);
                self.write_parts(&name, "", Some(section.address), address, out);
            }
        }
    }

    /// The first address behind `address` that has a symbol of its own.
    pub fn next(&self, address: u64) -> Option<u64> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        self.symbols.get(after).map(|symbol| symbol.address)
    }

    /// The symbol at or before an address; before all of them the first.
    fn around(&self, address: u64) -> Option<&Named> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        self.symbols.get(after.saturating_sub(1))
    }

    fn write_parts(&self, name: &str, suffix: &str, from: Option<u64>, address: u64, out: &mut String) {
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

impl Named {
    /// By address, then the best first; versions of one name stay in the order of the table.
    fn key(&self) -> (u64, &Rank, &str) {
        (self.address, &self.rank, &self.name)
    }
}

/// The words that relocations of the loader fill in with the address of a symbol.
fn words(image: &Elf<'_>) -> HashMap<u64, Word> {
    let Some(table) = image.section_of_kind(elf::SHT_DYNSYM) else { return HashMap::new() };
    let symbols: Vec<ElfSymbol<'_>> = image.symbols(table).collect();
    let versions = Versions::read(image);
    let sections = [&b".rela.dyn"[..], b".rela.plt"].into_iter().filter_map(|name| image.section(name));
    let relocations = sections.flat_map(|section| image.relocations(section));
    let words = relocations.filter_map(|relocation| {
        let index = usize::try_from(relocation.symbol).ok()?;
        let symbol = symbols.get(index.checked_sub(1)?).filter(|symbol| !symbol.name.is_empty())?;
        let address = (symbol.place != SymbolPlace::Undefined).then_some(symbol.value);
        let name = String::from_utf8_lossy(symbol.name).into_owned();
        let suffix = versions.suffix(index);
        // Without a definition here no version is the file's default.
        let suffix = if address.is_none() { suffix.replace("@@", "@") } else { suffix };
        Some((relocation.address, Word { address, name, suffix }))
    });
    words.collect()
}

fn full_table(file: &Elf<'_>) -> Vec<Named> {
    let table = file.section_of_kind(elf::SHT_SYMTAB);
    let symbols = table.into_iter().flat_map(|table| file.symbols(table));
    symbols.filter_map(|symbol| named(file, &symbol, String::new())).collect()
}

/// Symbols for the loader are shown with their versions.
fn loader_table(file: &Elf<'_>) -> Vec<Named> {
    let table = file.section_of_kind(elf::SHT_DYNSYM);
    let versions = Versions::read(file);
    let symbols = table.into_iter().flat_map(|table| file.symbols(table));
    symbols.zip(1..).filter_map(|(symbol, index)| named(file, &symbol, versions.suffix(index))).collect()
}

fn named(file: &Elf<'_>, symbol: &ElfSymbol<'_>, suffix: String) -> Option<Named> {
    let section = match symbol.place {
        SymbolPlace::Section(index) => index,
        SymbolPlace::Reserved(elf::SHN_ABS) => elf::SHN_ABS,
        SymbolPlace::Undefined | SymbolPlace::Reserved(_) => return None,
    };
    // Of the other kinds only data of threads has places among the rest.
    if symbol.name.is_empty() || matches!(symbol.kind, SymbolKind::Other(kind) if kind != elf::STT_TLS) {
        return None;
    }
    let in_section = file.sections().get(usize::from(section)).map_or(0, |section| section.address);
    let relocatable = file.file_type() == oxperf_objects::elf::FileType::Relocatable;
    Some(Named {
        address: symbol.value.wrapping_add(if relocatable { in_section } else { 0 }),
        section: Some(section),
        rank: Rank {
            no_function: symbol.kind != SymbolKind::Function,
            no_object: symbol.kind != SymbolKind::Object,
            no_global: symbol.binding != SymbolBinding::Global,
            size: Reverse(symbol.size),
            begins_with_dot: symbol.name.starts_with(b"."),
        },
        name: String::from_utf8_lossy(symbol.name).into_owned(),
        suffix,
    })
}

fn stubs(image: &Elf<'_>) -> impl Iterator<Item = Named> {
    linkage_stubs(image).into_iter().filter_map(|stub| {
        let name = match stub.target {
            StubTarget::Lookup => return None,
            StubTarget::Function(name) => String::from_utf8_lossy(name).into_owned(),
            StubTarget::Chosen(by) => format!("*ABS*+{by:#x}"),
        };
        let address = image.offset_to_address(stub.start)?;
        let rank = Rank {
            no_function: true,
            no_object: true,
            no_global: false,
            size: Reverse(0),
            begins_with_dot: false,
        };
        Some(Named { address, section: None, rank, name, suffix: "@plt".to_owned() })
    })
}
