//! The two word sizes and two byte orders of ELF headers, read into one shape.

use object::elf;
use object::endian::Endianness;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::{Elf, ElfSection, ElfSegment, FileType};
use crate::error::ElfError;

/// Reads headers of either word size.
pub(super) fn parse(data: &[u8]) -> Result<Elf<'_>, ElfError> {
    match data.get(..5) {
        Some([0x7f, b'E', b'L', b'F', elf::ELFCLASS64]) => {
            parse_class::<elf::FileHeader64<Endianness>>(data)
        }
        Some([0x7f, b'E', b'L', b'F', elf::ELFCLASS32]) => {
            parse_class::<elf::FileHeader32<Endianness>>(data)
        }
        Some([0x7f, b'E', b'L', b'F', class]) => Err(ElfError::Class(*class)),
        _ => Err(ElfError::Magic),
    }
}

fn parse_class<H: FileHeader<Endian = Endianness>>(data: &[u8]) -> Result<Elf<'_>, ElfError> {
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let (segments, note_segments) = segments(header, endian, data)?;
    Ok(Elf {
        data,
        is_64: header.is_type_64(),
        little_endian: header.is_little_endian(),
        file_type: file_type(header.e_type(endian)),
        machine: header.e_machine(endian),
        sections: sections(header, endian, data)?,
        segments,
        note_segments,
    })
}

fn file_type(raw: u16) -> FileType {
    match raw {
        elf::ET_EXEC | elf::ET_DYN => FileType::Linked,
        elf::ET_REL => FileType::Relocatable,
        other => FileType::Other(other),
    }
}

fn sections<'a, H: FileHeader<Endian = Endianness>>(
    header: &H,
    endian: Endianness,
    data: &'a [u8],
) -> Result<Vec<ElfSection<'a>>, ElfError> {
    let table = header.sections(endian, data)?;
    Ok(table
        .iter()
        .map(|section| ElfSection {
            name: table.section_name(endian, section).unwrap_or_default(),
            kind: section.sh_type(endian),
            flags: section.sh_flags(endian).into(),
            address: section.sh_addr(endian).into(),
            offset: section.sh_offset(endian).into(),
            size: section.sh_size(endian).into(),
            link: section.sh_link(endian),
            info: section.sh_info(endian),
            entry_size: section.sh_entsize(endian).into(),
            alignment: section.sh_addralign(endian).into(),
        })
        .collect())
}

type Segments = (Vec<ElfSegment>, Vec<(u64, u64)>);

fn segments<H: FileHeader<Endian = Endianness>>(
    header: &H,
    endian: Endianness,
    data: &[u8],
) -> Result<Segments, ElfError> {
    let (mut loads, mut notes) = (Vec::new(), Vec::new());
    for segment in header.program_headers(endian, data)? {
        match segment.p_type(endian) {
            elf::PT_LOAD => loads.push(ElfSegment {
                address: segment.p_vaddr(endian).into(),
                offset: segment.p_offset(endian).into(),
                memory_size: segment.p_memsz(endian).into(),
            }),
            elf::PT_NOTE => notes.push((
                segment.p_offset(endian).into(),
                segment.p_filesz(endian).into(),
            )),
            _ => {}
        }
    }
    Ok((loads, notes))
}
