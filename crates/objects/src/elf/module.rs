//! Kernel modules as the kernel's loader leaves them: sections have addresses, and references between them are filled in.
//!
//! A module's file is relocatable: all its sections begin at 0, and its debug information is full of places that are still
//! to be filled in. Here it becomes a linked file in memory, so that whoever reads programs reads modules. Code begins at
//! address 0, as it begins where the recording says that the module was. References to the kernel and to other modules stay
//! as they are.

use object::elf;

use super::relocation::Relocation;
use super::{Elf, ElfSection, FileType, SymbolSection};

/// Data of a module, and what is there for its start alone, lie apart from its code, but within the reach of instructions.
const DATA: u64 = 1 << 30;
const START: u64 = 3 << 29;

/// Sizes of what an ELF file of 64 bits consists of.
const SECTION: usize = 64;
const SEGMENT: usize = 56;
const SYMBOL: usize = 24;

/// The linked file; `None` where `bytes` are no relocatable file of a known kind.
pub(crate) fn linked(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = Elf::parse(bytes).ok()?;
    let known = matches!(file.machine(), elf::EM_X86_64 | elf::EM_AARCH64);
    if file.file_type() != FileType::Relocatable || !known || !file.is_64 || !file.little_endian {
        return None;
    }
    let places = places(file.sections())?;
    let mut linker = Linker {
        file: &file,
        places,
        out: bytes.to_vec(),
    };
    linker.unpack_sections()?;
    linker.place_sections()?;
    linker.fill_in_references();
    linker.move_symbols();
    linker.write_segments()?;
    Some(linker.out)
}

/// Start of each section, in the order in which the kernel lays them out; 0 for those that take no memory.
fn places(sections: &[ElfSection<'_>]) -> Option<Vec<u64>> {
    let (mut code, mut data, mut start) = (0, DATA, START);
    let place = |section: &ElfSection<'_>| {
        if !in_memory(section) {
            return Some(0);
        }
        let next = match (section.name.starts_with(b".init"), is_code(section)) {
            (true, _) => &mut start,
            (false, true) => &mut code,
            (false, false) => &mut data,
        };
        let place = u64::checked_next_multiple_of(*next, section.alignment.max(1))?;
        *next = place.checked_add(section.size)?;
        Some(place)
    };
    sections.iter().map(place).collect()
}

fn in_memory(section: &ElfSection<'_>) -> bool {
    section.flags & u64::from(elf::SHF_ALLOC) != 0
}

fn is_code(section: &ElfSection<'_>) -> bool {
    section.flags & u64::from(elf::SHF_EXECINSTR) != 0
}

/// Of data nobody asks; tables of unwinding and debug information are read, and code.
fn is_read(section: &ElfSection<'_>) -> bool {
    is_code(section) || section.name == b".eh_frame" || section.name.starts_with(b".debug_")
}

struct Linker<'f, 'a> {
    file: &'f Elf<'a>,
    places: Vec<u64>,
    /// The file as it becomes.
    out: Vec<u8>,
}

impl Linker<'_, '_> {
    /// Compressed sections with references in them are appended as they were before.
    fn unpack_sections(&mut self) -> Option<()> {
        for (index, section) in self.file.sections().iter().enumerate() {
            let packed = section.flags & u64::from(elf::SHF_COMPRESSED) != 0;
            let name = std::str::from_utf8(section.name)
                .ok()
                .filter(|_| packed && is_read(section));
            let Some(bytes) = name.and_then(|name| self.file.unpacked(name)) else {
                continue;
            };
            self.out.resize(self.out.len().next_multiple_of(8), 0);
            let (offset, size) = (self.out.len() as u64, bytes.len() as u64);
            self.out.extend_from_slice(&bytes);
            let header = self.header(index)?;
            self.put(header + 8, section.flags & !u64::from(elf::SHF_COMPRESSED))?;
            self.put(header + 24, offset)?;
            self.put(header + 32, size)?;
        }
        Some(())
    }

    fn place_sections(&mut self) -> Option<()> {
        for index in 0..self.places.len() {
            let header = self.header(index)?;
            self.put(header + 16, self.places[index])?;
        }
        Some(())
    }

    /// Start of the header of a section.
    fn header(&self, index: usize) -> Option<usize> {
        let table = usize::try_from(self.get(40)?).ok()?;
        table.checked_add(index.checked_mul(SECTION)?)
    }

    fn fill_in_references(&mut self) {
        let file = self.file;
        for (index, section) in file.sections().iter().enumerate() {
            let target = self
                .header(index)
                .and_then(|header| self.get_word(header + 44));
            let target = target.and_then(|target| usize::try_from(target).ok());
            let filled = target.and_then(|target| Some((target, file.sections().get(target)?)));
            let Some((target, _)) = filled.filter(|(_, section)| is_read(section)) else {
                continue;
            };
            let table = usize::try_from(section.link)
                .ok()
                .and_then(|link| file.sections().get(link));
            let symbols: Vec<Option<u64>> = table
                .into_iter()
                .flat_map(|table| file.symbols(table))
                .map(|s| self.value(s))
                .collect();
            for reference in file.relocations(section) {
                let symbol = usize::try_from(reference.symbol)
                    .ok()
                    .and_then(|index| index.checked_sub(1));
                // What cannot be filled in stays as it is.
                let _ = symbol
                    .and_then(|symbol| *symbols.get(symbol)?)
                    .and_then(|value| self.fill_in(target, &reference, value));
            }
        }
    }

    /// The address of a symbol; `None` for one of another file.
    fn value(&self, symbol: super::ElfSymbol<'_>) -> Option<u64> {
        match symbol.place {
            SymbolSection::Section(index) => Some(
                symbol
                    .value
                    .wrapping_add(*self.places.get(usize::from(index))?),
            ),
            SymbolSection::Reserved(elf::SHN_ABS) => Some(symbol.value),
            SymbolSection::Undefined | SymbolSection::Reserved(_) => None,
        }
    }

    fn fill_in(&mut self, section: usize, reference: &Relocation, symbol: u64) -> Option<()> {
        let header = self.header(section)?;
        let (offset, size) = (self.get(header + 24)?, self.get(header + 32)?);
        if reference.address >= size {
            return None;
        }
        let at = usize::try_from(offset.checked_add(reference.address)?).ok()?;
        let value = symbol.wrapping_add_signed(reference.addend);
        let distance =
            value.wrapping_sub(self.places.get(section)?.wrapping_add(reference.address));
        match (self.file.machine(), reference.kind) {
            (elf::EM_X86_64, elf::R_X86_64_64) | (elf::EM_AARCH64, elf::R_AARCH64_ABS64) => {
                self.put(at, value)
            }
            (elf::EM_X86_64, elf::R_X86_64_32 | elf::R_X86_64_32S)
            | (elf::EM_AARCH64, elf::R_AARCH64_ABS32) => self.put_word(at, value as u32),
            (elf::EM_X86_64, elf::R_X86_64_PC64) | (elf::EM_AARCH64, elf::R_AARCH64_PREL64) => {
                self.put(at, distance)
            }
            (elf::EM_X86_64, elf::R_X86_64_PC32 | elf::R_X86_64_PLT32)
            | (elf::EM_AARCH64, elf::R_AARCH64_PREL32) => self.put_word(at, distance as u32),
            (elf::EM_AARCH64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => {
                const TARGET: u32 = (1 << 26) - 1;
                let instruction = self.get_word(at)? & !TARGET;
                self.put_word(at, instruction | ((distance >> 2) as u32 & TARGET))
            }
            _ => None,
        }
    }

    /// Symbols have addresses in the place of offsets into their sections.
    fn move_symbols(&mut self) {
        let file = self.file;
        for table in file
            .sections()
            .iter()
            .filter(|section| section.kind == elf::SHT_SYMTAB)
        {
            let Ok(begin) = usize::try_from(table.offset) else {
                continue;
            };
            for (number, symbol) in file.symbols(table).enumerate() {
                let at = begin
                    .saturating_add((number + 1).saturating_mul(SYMBOL))
                    .saturating_add(8);
                // An entry outside of the file is none.
                let _ = self.value(symbol).and_then(|value| self.put(at, value));
            }
        }
    }

    /// Says that the file is linked, and where its code and data are.
    fn write_segments(&mut self) -> Option<()> {
        let sections = self.file.sections().iter().zip(&self.places);
        let loaded: Vec<_> = sections
            .filter(|(section, _)| {
                in_memory(section) && section.kind != elf::SHT_NOBITS && section.size > 0
            })
            .collect();
        let count = u16::try_from(loaded.len())
            .ok()
            .filter(|count| *count < elf::PN_XNUM)?;
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        let table = self.out.len() as u64;
        for (section, place) in loaded {
            let rights = elf::PF_R | if is_code(section) { elf::PF_X } else { 0 };
            self.out.extend(elf::PT_LOAD.to_le_bytes());
            self.out.extend(rights.to_le_bytes());
            for part in [
                section.offset,
                *place,
                *place,
                section.size,
                section.size,
                section.alignment,
            ] {
                self.out.extend(part.to_le_bytes());
            }
        }
        self.put_half(16, elf::ET_DYN)?;
        self.put(32, table)?;
        self.put_half(54, SEGMENT as u16)?;
        self.put_half(56, count)
    }

    fn get(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.out.get(at..)?.first_chunk()?))
    }

    fn get_word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.out.get(at..)?.first_chunk()?))
    }

    fn put(&mut self, at: usize, value: u64) -> Option<()> {
        *self.out.get_mut(at..)?.first_chunk_mut()? = value.to_le_bytes();
        Some(())
    }

    fn put_word(&mut self, at: usize, value: u32) -> Option<()> {
        *self.out.get_mut(at..)?.first_chunk_mut()? = value.to_le_bytes();
        Some(())
    }

    fn put_half(&mut self, at: usize, value: u16) -> Option<()> {
        *self.out.get_mut(at..)?.first_chunk_mut()? = value.to_le_bytes();
        Some(())
    }
}
