//! The entries of a symbol table, whatever the word size.

use object::elf;

use super::{Elf, ElfSection};

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A plain label (`STT_NOTYPE`).
    Label,
    /// Code.
    Function,
    /// Code that picks the function at load time (`STT_GNU_IFUNC`).
    IndirectFunction,
    /// Data.
    Object,
    /// A section, a file name, thread-local data and all else.
    Other(u8),
}

/// Visibility of a symbol, and precedence of its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolBinding {
    /// Its own file only.
    Local,
    /// Everybody.
    Global,
    /// Everybody, unless another definition stands beside it.
    Weak,
    /// A binding of another number (such as `STB_GNU_UNIQUE`).
    Other(u8),
}

/// The section that defines a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolSection {
    /// In another file.
    Undefined,
    /// In the section of this index.
    Section(u16),
    /// In no section: an absolute number, a common block and the like.
    Reserved(u16),
}

/// One entry of `.symtab` or `.dynsym`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfSymbol<'a> {
    /// The name without its NUL, as the file spells it.
    pub name: &'a [u8],
    /// Virtual address, or an offset into the section in relocatable files.
    pub value: u64,
    /// Size in bytes; 0 where the file does not say.
    pub size: u64,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its visibility.
    pub binding: SymbolBinding,
    /// True if it is invisible outside its component (`STV_HIDDEN`, `STV_INTERNAL`).
    pub hidden: bool,
    /// The section that defines it.
    pub place: SymbolSection,
}

/// A symbol without its name: names lie all over the file, and most are never asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnnamedSymbol {
    /// Its number in the table.
    pub number: u32,
    /// True if a name is said to be somewhere.
    pub has_name: bool,
    /// Virtual address, or an offset into the section in relocatable files.
    pub value: u64,
    /// Its kind.
    pub kind: SymbolKind,
    /// The section that defines it.
    pub place: SymbolSection,
}

impl<'a> Elf<'a> {
    /// The entries of a symbol table section in file order, entry 0 (the empty one) left out.
    ///
    /// An entry whose name lies outside the string table has an empty name. Nothing for other sections.
    pub fn symbols(&self, table: &ElfSection<'a>) -> impl Iterator<Item = ElfSymbol<'a>> + use<'a> {
        let (entries, strings, layout) = self.table(table);
        entries
            .chunks_exact(layout.size())
            .skip(1)
            .filter_map(move |entry| layout.decode(entry, strings))
    }

    /// The symbols without their names, which [`Elf::symbol_at`] reads.
    pub fn unnamed_symbols(
        &self,
        table: &ElfSection<'a>,
    ) -> impl Iterator<Item = UnnamedSymbol> + use<'a> {
        let (entries, _, layout) = self.table(table);
        let entries = entries.chunks_exact(layout.size()).zip(0u32..).skip(1);
        entries.filter_map(move |(entry, number)| layout.decode_unnamed(entry, number))
    }

    /// Limit of the entries that [`Elf::symbols`] goes through.
    pub fn symbol_count(&self, table: &ElfSection<'a>) -> usize {
        let (entries, _, layout) = self.table(table);
        (entries.len() / layout.size()).saturating_sub(1)
    }

    /// The bytes in which the names of a symbol table section stand, each with a NUL behind it; `None` for other sections.
    pub fn names_of(&self, table: &ElfSection<'a>) -> Option<&'a [u8]> {
        let (entries, names, _) = self.table(table);
        (!entries.is_empty()).then_some(names)
    }

    /// The entries of a symbol table section and their names; nothing for other sections.
    fn table(&self, table: &ElfSection<'a>) -> (&'a [u8], &'a [u8], Layout) {
        let is_table = matches!(table.kind, elf::SHT_SYMTAB | elf::SHT_DYNSYM);
        let entries = self
            .bytes_of(table)
            .filter(|_| is_table)
            .unwrap_or_default();
        let strings = usize::try_from(table.link)
            .ok()
            .and_then(|link| self.sections.get(link));
        let strings = strings
            .and_then(|strings| self.bytes_of(strings))
            .unwrap_or_default();
        (
            entries,
            strings,
            Layout {
                is_64: self.is_64,
                little_endian: self.little_endian,
            },
        )
    }

    /// Entry `index` of a symbol table section, where it exists.
    pub fn symbol_at(&self, table: &ElfSection<'a>, index: u32) -> Option<ElfSymbol<'a>> {
        let (entries, strings, layout) = self.table(table);
        let nth = usize::try_from(index).ok().filter(|nth| *nth > 0)?;
        layout.decode(entries.chunks_exact(layout.size()).nth(nth)?, strings)
    }
}

/// The form of one entry in the file.
#[derive(Clone, Copy)]
struct Layout {
    is_64: bool,
    little_endian: bool,
}

impl Layout {
    fn size(self) -> usize {
        if self.is_64 { 24 } else { 16 }
    }

    fn decode<'a>(self, entry: &[u8], strings: &'a [u8]) -> Option<ElfSymbol<'a>> {
        let name = self.word(entry, 0)?;
        let at = if self.is_64 {
            [4, 5, 6, 8, 16]
        } else {
            [12, 13, 14, 4, 8]
        };
        let info = *entry.get(at[0])?;
        let other = *entry.get(at[1])?;
        Some(ElfSymbol {
            name: string_at(strings, name),
            value: self.address(entry, at[3])?,
            size: self.address(entry, at[4])?,
            kind: kind(info & 15),
            binding: binding(info >> 4),
            hidden: matches!(other & 3, elf::STV_HIDDEN | elf::STV_INTERNAL),
            place: place(self.half(entry, at[2])?),
        })
    }

    fn decode_unnamed(self, entry: &[u8], number: u32) -> Option<UnnamedSymbol> {
        let [info, section, value] = if self.is_64 { [4, 6, 8] } else { [12, 14, 4] };
        Some(UnnamedSymbol {
            number,
            has_name: self.word(entry, 0)? != 0,
            value: self.address(entry, value)?,
            kind: kind(*entry.get(info)? & 15),
            place: place(self.half(entry, section)?),
        })
    }

    fn half(self, entry: &[u8], at: usize) -> Option<u16> {
        let bytes = *entry.get(at..)?.first_chunk::<2>()?;
        Some(if self.little_endian {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        })
    }

    fn word(self, entry: &[u8], at: usize) -> Option<u32> {
        let bytes = *entry.get(at..)?.first_chunk::<4>()?;
        Some(if self.little_endian {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        })
    }

    fn address(self, entry: &[u8], at: usize) -> Option<u64> {
        if !self.is_64 {
            return self.word(entry, at).map(u64::from);
        }
        let bytes = *entry.get(at..)?.first_chunk::<8>()?;
        Some(if self.little_endian {
            u64::from_le_bytes(bytes)
        } else {
            u64::from_be_bytes(bytes)
        })
    }
}

fn string_at(strings: &[u8], offset: u32) -> &[u8] {
    let tail = usize::try_from(offset)
        .ok()
        .and_then(|offset| strings.get(offset..))
        .unwrap_or_default();
    object::read::Bytes(tail).read_string().unwrap_or_default()
}

fn kind(raw: u8) -> SymbolKind {
    match raw {
        elf::STT_NOTYPE => SymbolKind::Label,
        elf::STT_OBJECT => SymbolKind::Object,
        elf::STT_FUNC => SymbolKind::Function,
        elf::STT_GNU_IFUNC => SymbolKind::IndirectFunction,
        other => SymbolKind::Other(other),
    }
}

fn binding(raw: u8) -> SymbolBinding {
    match raw {
        elf::STB_LOCAL => SymbolBinding::Local,
        elf::STB_GLOBAL => SymbolBinding::Global,
        elf::STB_WEAK => SymbolBinding::Weak,
        other => SymbolBinding::Other(other),
    }
}

fn place(raw: u16) -> SymbolSection {
    match raw {
        elf::SHN_UNDEF => SymbolSection::Undefined,
        elf::SHN_LORESERVE.. => SymbolSection::Reserved(raw),
        index => SymbolSection::Section(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contents;

    #[test]
    fn a_symbol_says_the_same_without_its_name() {
        let contents = Contents::open(&std::env::current_exe().unwrap()).unwrap();
        let file = Elf::parse(&contents).unwrap();
        let table = file.section_of_kind(elf::SHT_SYMTAB).unwrap();
        let numbers = file.unnamed_symbols(table).map(|unnamed| {
            let named = file.symbol_at(table, unnamed.number).unwrap();
            assert_eq!(
                (named.value, named.kind, named.place),
                (unnamed.value, unnamed.kind, unnamed.place)
            );
            assert!(unnamed.has_name || named.name.is_empty());
            unnamed.number
        });
        assert!(numbers.eq(1..file.symbols(table).count() as u32 + 1));
    }
}
