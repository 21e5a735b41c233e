//! Markers that the author of a program put into it (SDT): where they are and what they are given.
//!
//! The file may be another user's, and may change under our hands: its headers and notes are read, and nothing is mapped.

use std::fs::File;

use object::elf;
use object::endian::Endianness;
use object::read::elf::{FileHeader, SectionHeader};

use super::identity::{bytes_at, table};
use super::note::{NOTES_LIMIT, split_note};

/// The section of the markers' notes, the owner that each note names, and its type.
const NOTES: &[u8] = b".note.stapsdt";
const OWNER: &[u8] = b"stapsdt\0";
const MARKER: u32 = 3;
/// A section whose address, beside what notes say of it, tells how far a file's addresses were moved afterwards.
const BASE: &[u8] = b".stapsdt.base";
/// The section of the counters by which programs see that somebody listens.
const SEMAPHORES: &[u8] = b".probes";
/// Most bytes of the names of sections that are read.
const NAMES_LIMIT: u64 = 1 << 20;

/// A marker of a program. Texts are what the file says, and not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElfMarker {
    /// The program or library that it belongs to, by its author's name.
    pub provider: String,
    /// Its name.
    pub name: String,
    /// Its arguments in the notation of the machine's assembler: `8@%rdi -4@-8(%rbp)`.
    pub arguments: String,
    /// Its place in the file.
    pub offset: u64,
    /// The place of its counter in the file.
    pub semaphore: Option<u64>,
    /// Its code is for x86.
    pub is_x86: bool,
}

/// The markers of a file, in the order of their notes; none where it is no ELF file, or is cut.
pub fn markers_of_file(file: &File) -> Vec<ElfMarker> {
    let start = bytes_at(file, 0, size_of::<elf::FileHeader64<Endianness>>()).unwrap_or_default();
    let markers = match start.get(..5) {
        Some([0x7f, b'E', b'L', b'F', elf::ELFCLASS64]) => {
            Sections::<elf::FileHeader64<Endianness>>::markers(file, &start)
        }
        Some([0x7f, b'E', b'L', b'F', elf::ELFCLASS32]) => {
            Sections::<elf::FileHeader32<Endianness>>::markers(file, &start)
        }
        _ => None,
    };
    markers.unwrap_or_default()
}

/// The sections of a file by their names.
struct Sections<'f, H: FileHeader<Endian = Endianness>> {
    file: &'f File,
    endian: Endianness,
    headers: Vec<H::SectionHeader>,
    names: Vec<u8>,
    is_x86: bool,
}

impl<'f, H: FileHeader<Endian = Endianness>> Sections<'f, H> {
    fn markers(file: &'f File, start: &[u8]) -> Option<Vec<ElfMarker>> {
        let header = H::parse(start).ok()?;
        let endian = header.endian().ok()?;
        let headers: Vec<H::SectionHeader> = table(
            file,
            header.e_shoff(endian).into(),
            header.e_shentsize(endian),
            header.e_shnum(endian),
        );
        let names = headers.get(usize::from(header.e_shstrndx(endian)))?;
        let size = names.sh_size(endian).into().min(NAMES_LIMIT);
        let names = bytes_at(
            file,
            names.sh_offset(endian).into(),
            usize::try_from(size).ok()?,
        )?;
        let sections = Sections::<H> {
            file,
            endian,
            headers,
            names,
            is_x86: [elf::EM_X86_64, elf::EM_386].contains(&header.e_machine(endian)),
        };
        sections.read(header.is_little_endian())
    }

    fn read(&self, is_little: bool) -> Option<Vec<ElfMarker>> {
        let notes = self.find(NOTES)?;
        let size = notes.sh_size(self.endian).into().min(NOTES_LIMIT as u64);
        let notes = bytes_at(
            self.file,
            notes.sh_offset(self.endian).into(),
            usize::try_from(size).ok()?,
        )?;
        let (mut markers, mut rest) = (Vec::new(), &*notes);
        while let Some((owner, kind, content, behind)) = split_note(rest, is_little) {
            if (owner, kind) == (OWNER, MARKER) {
                markers.extend(self.marker(content, is_little));
            }
            rest = behind;
        }
        Some(markers)
    }

    /// Three addresses (the marker's, the base's and the counter's), then three texts that NULs end.
    fn marker(&self, content: &[u8], is_little: bool) -> Option<ElfMarker> {
        let size = match H::is_type_64_sized() {
            true => 8,
            false => 4,
        };
        let (addresses, texts) = content.split_at_checked(3 * size)?;
        let mut addresses = addresses.chunks(size).map(|bytes| number(bytes, is_little));
        let (place, base, semaphore) = (addresses.next()?, addresses.next()?, addresses.next()?);
        let moved = self.find(BASE).map_or(0, |section| {
            section.sh_addr(self.endian).into().wrapping_sub(base)
        });
        let mut texts = texts.split(|byte| *byte == 0);
        let mut text = || Some(String::from_utf8_lossy(texts.next()?).into_owned());
        Some(ElfMarker {
            provider: text()?,
            name: text()?,
            arguments: text()?,
            offset: self.offset(place.wrapping_add(moved))?,
            semaphore: match semaphore {
                0 => None,
                address => {
                    Some(self.offset_in(self.find(SEMAPHORES)?, address.wrapping_add(moved))?)
                }
            },
            is_x86: self.is_x86,
        })
    }

    fn find(&self, name: &[u8]) -> Option<&H::SectionHeader> {
        self.headers.iter().find(|section| {
            let start = usize::try_from(section.sh_name(self.endian)).ok();
            let text = start.and_then(|start| self.names.get(start..));
            text.and_then(|text| text.strip_prefix(name))
                .is_some_and(|end| end.first() == Some(&0))
        })
    }

    /// The place in the file of an address of loaded code.
    fn offset(&self, address: u64) -> Option<u64> {
        let mut sections = self.headers.iter();
        sections.find_map(|section| {
            let is_loaded = section.sh_flags(self.endian).into() & u64::from(elf::SHF_ALLOC) != 0;
            let is_filled = section.sh_type(self.endian) != elf::SHT_NOBITS;
            self.offset_in(section, address)
                .filter(|_| is_loaded && is_filled)
        })
    }

    /// The place in the file of an address in a section.
    fn offset_in(&self, section: &H::SectionHeader, address: u64) -> Option<u64> {
        let within = address.checked_sub(section.sh_addr(self.endian).into())?;
        let start: u64 = section.sh_offset(self.endian).into();
        (within < section.sh_size(self.endian).into())
            .then(|| start.checked_add(within))
            .flatten()
    }
}

/// A number of four or eight bytes.
fn number(bytes: &[u8], is_little: bool) -> u64 {
    let append = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match is_little {
        true => bytes.iter().rev().fold(0, append),
        false => bytes.iter().fold(0, append),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A note of a marker at 0x401010 with a counter at 0x404002; the base was at 0x402000 when it was written.
    fn note() -> Vec<u8> {
        let mut content = Vec::new();
        for address in [0x40_1010_u64, 0x40_2000, 0x40_4002] {
            content.extend(address.to_le_bytes());
        }
        content.extend(b"prov\0name\08@%rdi\0");
        let mut note = Vec::new();
        for word in [OWNER.len() as u32, content.len() as u32, MARKER] {
            note.extend(word.to_le_bytes());
        }
        note.extend(OWNER);
        note.extend(content);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }

    /// A file of these sections: name, type, flags, address, contents.
    fn elf_file(sections: &[(&str, u32, u64, u64, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[18..20].copy_from_slice(&elf::EM_X86_64.to_le_bytes());
        let (mut names, mut headers) = (vec![0], vec![0; 64]);
        for (name, kind, flags, address, contents) in sections {
            let mut header = Vec::new();
            header.extend((names.len() as u32).to_le_bytes());
            header.extend(kind.to_le_bytes());
            for word in [*flags, *address, bytes.len() as u64, contents.len() as u64] {
                header.extend(word.to_le_bytes());
            }
            header.resize(64, 0);
            headers.extend(header);
            names.extend(name.as_bytes());
            names.push(0);
            bytes.extend(*contents);
        }
        let mut header = vec![0; 64];
        header[24..32].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(names.len() as u64).to_le_bytes());
        bytes.extend(names);
        let count = sections.len() as u16 + 2;
        let table = (bytes.len() as u64).to_le_bytes();
        bytes.extend(headers);
        bytes.extend(header);
        bytes[40..48].copy_from_slice(&table);
        for (at, value) in [(52, 64), (58, 64), (60, count), (62, count - 1)] {
            bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(value));
        }
        bytes
    }

    fn markers_in(name: &str, bytes: &[u8]) -> Vec<ElfMarker> {
        let name = format!("oxperf-elf-markers-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        let markers = markers_of_file(&File::open(&path).unwrap());
        fs::remove_file(path).unwrap();
        markers
    }

    #[test]
    fn places_are_those_in_the_file() {
        let note = note();
        // The file was moved by 0x100 after it was linked.
        let file = elf_file(&[
            (".text", elf::SHT_PROGBITS, 2, 0x40_1100, &[0x90; 32]),
            (".stapsdt.base", elf::SHT_PROGBITS, 2, 0x40_2100, &[0]),
            (".probes", elf::SHT_PROGBITS, 2, 0x40_4100, &[0; 4]),
            (".note.stapsdt", elf::SHT_NOTE, 0, 0, &note),
        ]);
        let marker = ElfMarker {
            provider: "prov".to_owned(),
            name: "name".to_owned(),
            arguments: "8@%rdi".to_owned(),
            offset: 64 + 0x10,
            semaphore: Some(64 + 32 + 1 + 2),
            is_x86: true,
        };
        assert_eq!(markers_in("whole", &file), [marker]);
    }

    #[test]
    fn broken_files_have_none() {
        let note = note();
        let text = (".text", elf::SHT_PROGBITS, 2, 0x40_1000, &[0x90; 32][..]);
        let probes = (".probes", elf::SHT_PROGBITS, 2, 0x40_4000, &[0; 4][..]);
        let notes = |bytes| (".note.stapsdt", elf::SHT_NOTE, 0, 0, bytes);
        for end in 0..note.len() - 4 {
            let file = elf_file(&[text, probes, notes(&note[..end])]);
            assert_eq!(markers_in("note", &file), [], "{end}");
        }
        let file = elf_file(&[text, probes, notes(&note)]);
        assert_eq!(markers_in("unmoved", &file).len(), 1);
        for end in (0..file.len() - 1).step_by(7) {
            markers_in("cut", &file[..end]);
        }
        // Its code and its counter are nowhere.
        assert_eq!(markers_in("nowhere", &elf_file(&[notes(&note)])), []);
    }
}
