//! The entries of a relocation section, whatever the word size.

use object::elf;
use object::endian::Endianness;
use object::read::elf::{Rel, Rela};

use super::{Elf, ElfSection};

/// One relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The virtual address that is filled in at load time.
    pub address: u64,
    /// Index into the linked symbol table; 0 stands for none in the format.
    pub symbol: u32,
    /// The machine's relocation type.
    pub kind: u32,
    /// The constant to add; 0 in sections without addends.
    pub addend: i64,
}

impl<'a> Elf<'a> {
    /// The entries of a `SHT_REL` or `SHT_RELA` section in file order; none for other sections.
    pub fn relocations(&self, section: &ElfSection<'a>) -> Vec<Relocation> {
        let bytes = self.bytes_of(section).unwrap_or_default();
        let endian = if self.little_endian {
            Endianness::Little
        } else {
            Endianness::Big
        };
        match (section.kind, self.is_64) {
            (elf::SHT_RELA, true) => with_addend::<elf::Rela64<Endianness>>(bytes, endian),
            (elf::SHT_RELA, false) => with_addend::<elf::Rela32<Endianness>>(bytes, endian),
            (elf::SHT_REL, true) => without_addend::<elf::Rel64<Endianness>>(bytes, endian),
            (elf::SHT_REL, false) => without_addend::<elf::Rel32<Endianness>>(bytes, endian),
            _ => Vec::new(),
        }
    }
}

fn with_addend<R: Rela<Endian = Endianness>>(bytes: &[u8], endian: Endianness) -> Vec<Relocation> {
    let entries = object::pod::slice_from_all_bytes::<R>(bytes).unwrap_or_default();
    let decode = |entry: &R| Relocation {
        address: entry.r_offset(endian).into(),
        symbol: entry.r_sym(endian, false),
        kind: entry.r_type(endian, false),
        addend: entry.r_addend(endian).into(),
    };
    entries.iter().map(decode).collect()
}

fn without_addend<R: Rel<Endian = Endianness>>(
    bytes: &[u8],
    endian: Endianness,
) -> Vec<Relocation> {
    let entries = object::pod::slice_from_all_bytes::<R>(bytes).unwrap_or_default();
    let decode = |entry: &R| Relocation {
        address: entry.r_offset(endian).into(),
        symbol: entry.r_sym(endian),
        kind: entry.r_type(endian),
        addend: 0,
    };
    entries.iter().map(decode).collect()
}
