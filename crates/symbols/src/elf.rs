//! The symbols of ELF objects, by offset into the file.
//!
//! A recording knows where in a file a mapped byte stands; that is the address space of these tables. In kernel modules
//! and other relocatable files it is the offset of the section's bytes too.

mod plt;

use std::sync::Arc;

use oxperf_objects::elf::{ElfSection, ElfSymbol, FileType, SymbolKind, SymbolSection};
use oxperf_objects::{Elf, Found};

pub use plt::{Stub, StubTarget, linkage_stubs};

use crate::builder::build_in;
use crate::demangle::Demangling;
use crate::entry::{SymbolEntry, SymbolName};
use crate::names::NameTexts;
use crate::reference_symbol::ReferenceSymbol;
use crate::table::SymbolTable;

/// `SHT_SYMTAB`: all symbols.
const FULL_TABLE: u32 = object::elf::SHT_SYMTAB;
/// `SHT_DYNSYM`: the symbols that the loader needs.
const LOADER_TABLE: u32 = object::elf::SHT_DYNSYM;

/// The table of an object that ran.
///
/// `image` is what was mapped: it says where a virtual address stands in the file. `symbols` is the file with the names:
/// the image itself or its separate debug file. The image's loader symbols count beside them.
///
/// Names that stand in one of `files` are not copied.
pub fn elf_table(
    image: &Elf<'_>,
    symbols: &Elf<'_>,
    files: Vec<Arc<Found>>,
    demangling: Demangling,
) -> SymbolTable {
    let entries = entries_of(image, [(symbols, FULL_TABLE), (image, LOADER_TABLE)]);
    let table = build_in(NameTexts::in_files(files), entries, demangling);
    table.names.release_files();
    table.within(image)
}

/// All that one file names, table by table, and the stubs of the image.
pub(crate) fn named_entries<'a>(image: &Elf<'a>, symbols: &Elf<'a>) -> Vec<SymbolEntry<'a>> {
    entries_of(image, [(symbols, FULL_TABLE), (symbols, LOADER_TABLE)])
}

fn entries_of<'a>(image: &Elf<'a>, tables: [(&Elf<'a>, u32); 2]) -> Vec<SymbolEntry<'a>> {
    let room = tables
        .iter()
        .filter_map(|(file, kind)| Some(file.symbol_count(file.section_of_kind(*kind)?)));
    let mut entries: Vec<SymbolEntry<'_>> = Vec::with_capacity(room.sum());
    for (file, kind) in tables {
        let kept = symbols_of(file, kind).filter(|(symbol, section)| is_kept(symbol, section));
        entries.extend(kept.filter_map(|(symbol, section)| entry(image, &symbol, section)));
    }
    let stubs = plt::entries(image, &entries);
    entries.extend(stubs);
    entries
}

/// The symbols of the fullest table that get a place in ours.
pub(crate) fn kept_symbols<'f, 'a>(
    file: &'f Elf<'a>,
) -> impl Iterator<Item = ElfSymbol<'a>> + use<'f, 'a> {
    named(file)
        .filter(|(symbol, section)| is_kept(symbol, section))
        .map(|(symbol, _)| symbol)
}

/// Distance of the recorded kernel above the addresses in its image.
pub(crate) fn shift_of(image: &Elf<'_>, reference: &ReferenceSymbol<'_>) -> u64 {
    let here = named(image).find(|(symbol, _)| symbol.name == reference.symbol);
    here.map_or(0, |(symbol, _)| {
        reference.address.wrapping_sub(symbol.value)
    })
}

fn named<'f, 'a>(file: &'f Elf<'a>) -> impl Iterator<Item = (ElfSymbol<'a>, &'f ElfSection<'a>)> {
    symbols_of(
        file,
        if file.has_symtab() {
            FULL_TABLE
        } else {
            LOADER_TABLE
        },
    )
}

/// The symbols of one table with the sections that define them.
fn symbols_of<'f, 'a>(
    file: &'f Elf<'a>,
    table: u32,
) -> impl Iterator<Item = (ElfSymbol<'a>, &'f ElfSection<'a>)> {
    let table = file.section_of_kind(table);
    table
        .into_iter()
        .flat_map(|table| file.symbols(table))
        .filter_map(|symbol| {
            let SymbolSection::Section(index) = symbol.place else {
                return None;
            };
            Some((symbol, file.sections().get(usize::from(index))?))
        })
}

/// Functions and data are kept, and those labels that stand among code or data and can be seen from outside; but only
/// where the section takes memory.
fn is_kept(symbol: &ElfSymbol<'_>, section: &ElfSection<'_>) -> bool {
    let in_memory = section.flags & u64::from(object::elf::SHF_ALLOC) != 0;
    let wanted = match symbol.kind {
        SymbolKind::Function | SymbolKind::IndirectFunction | SymbolKind::Object => true,
        SymbolKind::Label => !symbol.hidden && is_text_or_data(section.name),
        SymbolKind::Other(_) => false,
    };
    wanted && in_memory && !symbol.name.is_empty()
}

fn is_text_or_data(section: &[u8]) -> bool {
    section
        .windows(4)
        .any(|part| part == b"text" || part == b"data")
}

fn entry<'a>(
    image: &Elf<'_>,
    symbol: &ElfSymbol<'a>,
    section: &ElfSection<'_>,
) -> Option<SymbolEntry<'a>> {
    Some(SymbolEntry {
        start: file_offset(image, symbol.value, section)?,
        size: (symbol.size > 0).then_some(symbol.size),
        name: SymbolName::plain(symbol.name),
        binding: symbol.binding,
        is_data: symbol.kind == SymbolKind::Object,
    })
}

/// Offset in the file of a symbol's first byte.
fn file_offset(image: &Elf<'_>, value: u64, section: &ElfSection<'_>) -> Option<u64> {
    match image.file_type() {
        FileType::Relocatable => value.checked_add(section.offset),
        FileType::Linked => image.address_to_offset(value).or_else(|| {
            value
                .checked_sub(section.address)?
                .checked_add(section.offset)
        }),
        FileType::Other(_) => Some(value),
    }
}
