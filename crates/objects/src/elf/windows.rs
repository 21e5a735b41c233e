//! Programs for Windows (PE images), which run under Wine, as ELF files: whoever reads programs reads these, too.
//!
//! All bytes stay where they are in the file, as recordings tell places in mapped files by their offsets; the ELF header takes
//! the place of the DOS header. Symbols are those of the image, as GNU tools leave them there, and the exported ones.

use object::elf;
use object::read::pe::{PeFile32, PeFile64};
use object::{
    Architecture, FileKind, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind,
};

/// Sizes of what an ELF file of 64 bits consists of.
const HEADER: usize = 64;
const SECTION: usize = 64;
const SEGMENT: usize = 56;

/// The image as an ELF file; `None` where `bytes` are none.
pub(crate) fn as_elf(bytes: &[u8]) -> Option<Vec<u8>> {
    match FileKind::parse(bytes).ok()? {
        FileKind::Pe32 => convert(&PeFile32::parse(bytes).ok()?, bytes),
        FileKind::Pe64 => convert(&PeFile64::parse(bytes).ok()?, bytes),
        _ => None,
    }
}

fn convert<'a>(image: &impl Object<'a>, bytes: &[u8]) -> Option<Vec<u8>> {
    let machine = match image.architecture() {
        Architecture::X86_64 => elf::EM_X86_64,
        Architecture::I386 => elf::EM_386,
        Architecture::Aarch64 => elf::EM_AARCH64,
        _ => return None,
    };
    let mut writer = Writer {
        out: bytes.to_vec(),
        names: vec![0],
        headers: vec![0; SECTION],
    };
    if writer.out.len() < HEADER {
        return None;
    }
    let sections = sections(image);
    sections
        .iter()
        .try_for_each(|section| writer.section(section))?;
    writer.symbols(image, &sections, machine)?;
    writer.build_id(image)?;
    writer.finish(&sections, machine)
}

/// A part of the image.
struct Part {
    name: Vec<u8>,
    address: u64,
    offset: u64,
    /// As far as the file has it.
    size: u64,
    is_code: bool,
}

impl Part {
    fn in_memory(&self) -> bool {
        !self.name.starts_with(b".debug_")
    }
}

/// The sections in file order; one whose name cannot be read has none.
fn sections<'a>(image: &impl Object<'a>) -> Vec<Part> {
    let mut parts = Vec::new();
    for section in image.sections() {
        let (offset, size) = section.file_range().unwrap_or_default();
        let name = section.name_bytes().unwrap_or_default().to_vec();
        let is_code = section.kind() == SectionKind::Text;
        parts.push(Part {
            name,
            address: section.address(),
            offset,
            size,
            is_code,
        });
    }
    parts
}

struct Writer {
    /// The file as it becomes.
    out: Vec<u8>,
    /// The names of sections, each with a NUL behind it.
    names: Vec<u8>,
    /// The headers of sections, the first one empty.
    headers: Vec<u8>,
}

/// The fields of a section's header beside its name.
struct Header {
    kind: u32,
    flags: u32,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
    entry: u64,
}

impl Writer {
    fn section(&mut self, part: &Part) -> Option<()> {
        let code = if part.is_code { elf::SHF_EXECINSTR } else { 0 };
        let flags = if part.in_memory() {
            elf::SHF_ALLOC | code
        } else {
            0
        };
        let kind = if part.size > 0 {
            elf::SHT_PROGBITS
        } else {
            elf::SHT_NOBITS
        };
        let Part {
            address,
            offset,
            size,
            ..
        } = *part;
        self.header(
            &part.name,
            &Header {
                kind,
                flags,
                address,
                offset,
                size,
                link: 0,
                entry: 0,
            },
        )
    }

    fn header(&mut self, name: &[u8], header: &Header) -> Option<()> {
        let at = u32::try_from(self.names.len()).ok()?;
        self.names
            .extend(name.iter().take_while(|byte| **byte != 0));
        self.names.push(0);
        self.headers
            .extend([at, header.kind].map(u32::to_le_bytes).as_flattened());
        let Header {
            flags,
            address,
            offset,
            size,
            link,
            entry,
            ..
        } = *header;
        self.headers.extend(
            [u64::from(flags), address, offset, size]
                .map(u64::to_le_bytes)
                .as_flattened(),
        );
        self.headers
            .extend([link, 0].map(u32::to_le_bytes).as_flattened());
        self.headers
            .extend([1, entry].map(u64::to_le_bytes).as_flattened());
        Some(())
    }

    /// Appends bytes; tells where they are.
    fn append(&mut self, bytes: &[u8]) -> (u64, u64) {
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        let offset = self.out.len() as u64;
        self.out.extend_from_slice(bytes);
        (offset, bytes.len() as u64)
    }

    /// Functions of the image, and what it exports of its code.
    fn symbols<'a>(&mut self, image: &impl Object<'a>, parts: &[Part], machine: u16) -> Option<()> {
        // Many symbols may claim the same long name.
        let mut table = Symbols {
            entries: vec![0; 24],
            names: vec![0],
            most: self.out.len().max(1 << 16),
        };
        let holder = |address: u64| {
            let holds = |part: &Part| {
                address
                    .checked_sub(part.address)
                    .is_some_and(|at| at < part.size)
            };
            parts.iter().position(|part| part.is_code && holds(part))
        };
        for symbol in image
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
        {
            let (Some(section), Ok(name)) = (holder(symbol.address()), symbol.name_bytes()) else {
                continue;
            };
            // Names in programs of 32 bits begin with an underscore of the compiler's.
            let name = name
                .strip_prefix(b"_")
                .filter(|_| machine == elf::EM_386)
                .unwrap_or(name);
            table.add(name, symbol.address(), section, symbol.is_global());
        }
        for export in image.exports().unwrap_or_default() {
            if let Some(section) = holder(export.address()) {
                table.add(export.name(), export.address(), section, true);
            }
        }
        let (offset, size) = self.append(&table.entries);
        let names = u32::try_from(parts.len()).ok()?.checked_add(2)?;
        let header = Header {
            kind: elf::SHT_SYMTAB,
            flags: 0,
            address: 0,
            offset,
            size,
            link: names,
            entry: 24,
        };
        self.header(b".symtab", &header)?;
        let (offset, size) = self.append(&table.names);
        self.strings(b".strtab", offset, size)
    }

    fn strings(&mut self, name: &[u8], offset: u64, size: u64) -> Option<()> {
        let kind = elf::SHT_STRTAB;
        self.header(
            name,
            &Header {
                kind,
                flags: 0,
                address: 0,
                offset,
                size,
                link: 0,
                entry: 0,
            },
        )
    }

    /// The build id of an image: the number that a debugger would compare.
    fn build_id<'a>(&mut self, image: &impl Object<'a>) -> Option<()> {
        let Ok(Some(info)) = image.pdb_info() else {
            return Some(());
        };
        let mut id = info.guid();
        // Three numbers with their lowest bytes first, shown with the highest first.
        id[..4].reverse();
        id[4..6].reverse();
        id[6..8].reverse();
        let head = [4, id.len() as u32, elf::NT_GNU_BUILD_ID].map(u32::to_le_bytes);
        let (offset, size) = self.append(&[head.as_flattened(), b"GNU\0", &id].concat());
        let (kind, flags) = (elf::SHT_NOTE, elf::SHF_ALLOC);
        let header = Header {
            kind,
            flags,
            address: 0,
            offset,
            size,
            link: 0,
            entry: 0,
        };
        self.header(b".note.gnu.build-id", &header)
    }

    fn finish(mut self, parts: &[Part], machine: u16) -> Option<Vec<u8>> {
        let names = u16::try_from(self.headers.len() / SECTION).ok()?;
        // The name of this section is among them.
        let own = b".shstrtab\0".len();
        let place = self.out.len().next_multiple_of(8) as u64;
        self.strings(b".shstrtab", place, (self.names.len() + own) as u64)?;
        let text = std::mem::take(&mut self.names);
        self.append(&text);
        let headers = std::mem::take(&mut self.headers);
        let (sections, size) = self.append(&headers);
        let count = u16::try_from(size as usize / SECTION).ok()?;
        let loaded: Vec<&Part> = parts
            .iter()
            .filter(|part| part.in_memory() && part.size > 0)
            .collect();
        let (segments, _) = self.append(
            &loaded
                .iter()
                .flat_map(|part| segment(part))
                .collect::<Vec<u8>>(),
        );
        let mut header = b"\x7fELF".to_vec();
        header.extend([elf::ELFCLASS64, elf::ELFDATA2LSB, elf::EV_CURRENT]);
        header.resize(16, 0);
        header.extend([elf::ET_DYN, machine].map(u16::to_le_bytes).as_flattened());
        header.extend(u32::from(elf::EV_CURRENT).to_le_bytes());
        header.extend([0, segments, sections].map(u64::to_le_bytes).as_flattened());
        header.extend(0u32.to_le_bytes());
        let loaded = u16::try_from(loaded.len()).ok()?;
        let halves = [
            HEADER as u16,
            SEGMENT as u16,
            loaded,
            SECTION as u16,
            count,
            names,
        ];
        header.extend(halves.map(u16::to_le_bytes).as_flattened());
        self.out.get_mut(..HEADER)?.copy_from_slice(&header);
        Some(self.out)
    }
}

fn segment(part: &Part) -> Vec<u8> {
    let rights = elf::PF_R | if part.is_code { elf::PF_X } else { 0 };
    let mut header = [elf::PT_LOAD, rights].map(u32::to_le_bytes).concat();
    let fields = [
        part.offset,
        part.address,
        part.address,
        part.size,
        part.size,
        1,
    ];
    header.extend(fields.map(u64::to_le_bytes).as_flattened());
    header
}

/// A symbol table that grows.
struct Symbols {
    entries: Vec<u8>,
    names: Vec<u8>,
    /// Bytes of names at most.
    most: usize,
}

impl Symbols {
    fn add(&mut self, name: &[u8], address: u64, section: usize, global: bool) {
        let (Ok(at), Ok(section)) = (u32::try_from(self.names.len()), u16::try_from(section + 1))
        else {
            return;
        };
        if name.is_empty() || self.names.len() + name.len() >= self.most {
            return;
        }
        let binding = if global {
            elf::STB_GLOBAL
        } else {
            elf::STB_LOCAL
        };
        self.entries.extend(at.to_le_bytes());
        self.entries.extend([binding << 4 | elf::STT_FUNC, 0]);
        self.entries.extend(section.to_le_bytes());
        self.entries
            .extend([address, 0].map(u64::to_le_bytes).as_flattened());
        self.names
            .extend(name.iter().take_while(|byte| **byte != 0));
        self.names.push(0);
    }
}
