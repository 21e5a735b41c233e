//! One ELF file's headers as plain values, whatever its word size and byte order.
//!
//! Nothing is trusted: every offset is checked against the file, and a part that lies outside it is simply absent.

mod dependencies;
mod identity;
mod markers;
mod module;
mod note;
mod read;
mod relocation;
mod symbol;
mod unpacked;
mod windows;

use object::elf;

use oxperf_abi::BuildId;

pub use dependencies::Dependencies;
pub use identity::build_id_of_file;
pub use markers::{ElfMarker, markers_of_file};
pub(crate) use module::linked;
pub use note::{AlternateLink, DebugLink, build_id_in_notes};
pub use relocation::Relocation;
pub use symbol::{ElfSymbol, SymbolBinding, SymbolKind, SymbolSection, UnnamedSymbol};
pub(crate) use windows::as_elf;

use crate::error::ElfError;

/// The kind of file that the header states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A program or a shared object: addresses are virtual addresses of its segments.
    Linked,
    /// An object file or a kernel module: addresses are offsets into sections.
    Relocatable,
    /// A core file or something newer.
    Other(u16),
}

/// One section header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfSection<'a> {
    /// The name, without its NUL; empty where the name lies outside the string table.
    pub name: &'a [u8],
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// Virtual address of the first byte.
    pub address: u64,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// `sh_link`: the index of a related section.
    pub link: u32,
    /// `sh_info`: of relocations the index of the section that they change.
    pub info: u32,
    /// Size of one entry, 0 where the section is no table.
    pub entry_size: u64,
    /// Its address is a multiple of this.
    pub alignment: u64,
}

/// One loadable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfSegment {
    /// Virtual address of the first byte.
    pub address: u64,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// Bytes it takes in memory.
    pub memory_size: u64,
}

/// The headers of an ELF file over its bytes.
#[derive(Debug)]
pub struct Elf<'a> {
    data: &'a [u8],
    is_64: bool,
    little_endian: bool,
    file_type: FileType,
    machine: u16,
    sections: Vec<ElfSection<'a>>,
    segments: Vec<ElfSegment>,
    note_segments: Vec<(u64, u64)>,
}

impl<'a> Elf<'a> {
    /// Reads the headers of `data`.
    ///
    /// # Errors
    /// `data` is no ELF file, or its headers lie outside it.
    pub fn parse(data: &'a [u8]) -> Result<Elf<'a>, ElfError> {
        read::parse(data)
    }

    /// The kind of the file.
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// `e_machine`, such as 62 for x86-64.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// Returns whether this is code for x86, 32 or 64 bits.
    pub fn is_x86(&self) -> bool {
        matches!(self.machine, elf::EM_X86_64 | elf::EM_386)
    }

    /// All sections in file order; index 0 is the empty one.
    pub fn sections(&self) -> &[ElfSection<'a>] {
        &self.sections
    }

    /// The loadable segments in file order.
    pub fn segments(&self) -> &[ElfSegment] {
        &self.segments
    }

    /// The first section of that name.
    pub fn section(&self, name: &[u8]) -> Option<&ElfSection<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The first section of that type.
    pub fn section_of_kind(&self, kind: u32) -> Option<&ElfSection<'a>> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// The section's bytes in this file; `None` where it has none or they lie outside.
    pub fn bytes_of(&self, section: &ElfSection<'a>) -> Option<&'a [u8]> {
        if section.kind == elf::SHT_NOBITS {
            return None;
        }
        self.bytes(section.offset, section.size)
    }

    /// `size` bytes at `offset` of the file.
    pub fn bytes(&self, offset: u64, size: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        self.data.get(start..end)
    }

    /// Offset in the file of the byte at a virtual address, by the segment that holds it.
    pub fn address_to_offset(&self, address: u64) -> Option<u64> {
        let holds = |s: &&ElfSegment| address >= s.address && address - s.address < s.memory_size;
        let segment = self.segments.iter().find(holds)?;
        Some(
            address
                .wrapping_sub(segment.address)
                .wrapping_add(segment.offset),
        )
    }

    /// Virtual address of the byte at an offset of the file, by the segment that holds it.
    pub fn offset_to_address(&self, offset: u64) -> Option<u64> {
        let holds = |s: &&ElfSegment| offset >= s.offset && offset - s.offset < s.memory_size;
        let segment = self
            .segments
            .iter()
            .filter(holds)
            .max_by_key(|segment| segment.offset)?;
        Some(
            offset
                .wrapping_sub(segment.offset)
                .wrapping_add(segment.address),
        )
    }

    /// Returns whether numbers in the file have their lowest byte first.
    pub fn is_little_endian(&self) -> bool {
        self.little_endian
    }

    /// Returns whether the full symbol table is here, with its bytes.
    pub fn has_symtab(&self) -> bool {
        self.section_of_kind(elf::SHT_SYMTAB)
            .is_some_and(|s| self.bytes_of(s).is_some())
    }

    /// The build id from the file's notes.
    pub fn build_id(&self) -> Option<BuildId> {
        note::build_id(self)
    }

    /// The name and checksum of the file that holds the debug information.
    pub fn debug_link(&self) -> Option<DebugLink<'a>> {
        note::debug_link(self)
    }

    /// The file that holds what several files' debug information has in common.
    pub fn alternate_link(&self) -> Option<AlternateLink<'a>> {
        note::alternate_link(self)
    }
}
