//! A small writer of 64-bit little-endian ELF files for tests.

/// One section of the file to be written.
pub(crate) struct ElfSection {
    pub(crate) name: &'static str,
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) link: u32,
    pub(crate) entry_size: u64,
}

/// A section with bytes that lie in memory at `address`.
pub(crate) fn loaded(name: &'static str, kind: u32, address: u64, bytes: Vec<u8>) -> ElfSection {
    ElfSection {
        name,
        kind,
        flags: 2,
        address,
        bytes,
        link: 0,
        entry_size: 0,
    }
}

/// A build id note.
pub(crate) fn build_id_note(id: &[u8]) -> Vec<u8> {
    let mut note = Vec::new();
    for word in [4, id.len() as u32, 3] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"GNU\0");
    note.extend(id);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

/// One symbol: name, value, size, info (`binding << 4 | type`), section index.
pub(crate) type Symbol = (&'static str, u64, u64, u8, u16);

/// The bytes of a symbol table and of its strings.
pub(crate) fn symbol_table(symbols: &[Symbol]) -> (Vec<u8>, Vec<u8>) {
    let (mut table, mut strings) = (vec![0; 24], vec![0]);
    for (name, value, size, info, section) in symbols {
        table.extend((strings.len() as u32).to_le_bytes());
        table.extend([*info, 0]);
        table.extend(section.to_le_bytes());
        table.extend(value.to_le_bytes());
        table.extend(size.to_le_bytes());
        strings.extend(name.bytes().chain([0]));
    }
    (table, strings)
}

/// The file: header, one loadable segment (address, file offset, size), sections from 0x1000 on, section headers.
pub(crate) fn file(kind: u16, segment: (u64, u64, u64), sections: &[ElfSection]) -> Vec<u8> {
    let mut names = vec![0];
    let mut headers = vec![[0; 64].to_vec()];
    let mut body = Vec::new();
    let shstrtab = ElfSection {
        name: ".shstrtab",
        kind: 3,
        flags: 0,
        address: 0,
        bytes: vec![],
        link: 0,
        entry_size: 0,
    };
    for section in sections.iter().chain([&shstrtab]) {
        let name = names.len() as u32;
        names.extend(section.name.bytes().chain([0]));
        let bytes = if section.kind == 3 && section.name == ".shstrtab" {
            &names
        } else {
            &section.bytes
        };
        headers.push(section_header(
            name,
            section,
            0x1000 + body.len() as u64,
            bytes.len() as u64,
        ));
        body.extend(bytes);
        body.resize(body.len().next_multiple_of(16), 0);
    }
    let mut file = file_header(kind, 0x1000 + body.len() as u64, headers.len() as u16);
    file.extend(program_header(segment));
    file.resize(0x1000, 0);
    file.extend(body);
    file.extend(headers.concat());
    file
}

fn file_header(kind: u16, sections_at: u64, count: u16) -> Vec<u8> {
    let mut header = b"\x7fELF\x02\x01\x01".to_vec();
    header.resize(16, 0);
    for half in [kind, 62] {
        header.extend(half.to_le_bytes());
    }
    header.extend(1u32.to_le_bytes());
    for word in [0, 64, sections_at] {
        header.extend(word.to_le_bytes());
    }
    header.extend(0u32.to_le_bytes());
    for half in [64, 56, 1, 64, count, count - 1] {
        header.extend(half.to_le_bytes());
    }
    header
}

fn program_header((address, offset, size): (u64, u64, u64)) -> Vec<u8> {
    let mut header = Vec::new();
    for word in [1u32, 5] {
        header.extend(word.to_le_bytes());
    }
    for word in [offset, address, address, size, size, 0x1000] {
        header.extend(word.to_le_bytes());
    }
    header
}

fn section_header(name: u32, section: &ElfSection, offset: u64, size: u64) -> Vec<u8> {
    let mut header = Vec::new();
    for word in [name, section.kind] {
        header.extend(word.to_le_bytes());
    }
    for word in [section.flags, section.address, offset, size] {
        header.extend(word.to_le_bytes());
    }
    for word in [section.link, 0] {
        header.extend(word.to_le_bytes());
    }
    for word in [16, section.entry_size] {
        header.extend(word.to_le_bytes());
    }
    header
}
