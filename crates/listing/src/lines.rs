//! A stretch of code as lines.

use std::ops::Range;

use object::elf;
use oxperf_disasm::{AddressNames, Arm64, Disassembler, LineLayout, Syntax, Width};
use oxperf_objects::Elf;
use oxperf_objects::elf::ElfSection;

use crate::CodeNames;

/// The code of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The name of the section that holds it.
    pub section: String,
    /// Number of digits of whole addresses on that machine.
    pub address_digits: usize,
    /// The lines in order of address.
    pub lines: Vec<ListingLine>,
}

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListingLine {
    /// Here a symbol begins.
    Label {
        /// Its virtual address.
        address: u64,
        /// Its name; untrusted.
        name: String,
    },
    /// An instruction.
    Instruction(ListedInstruction),
    /// A line of source text; untrusted.
    Source(String),
    /// Zeros that are no code; they are left out.
    Zeros,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedInstruction {
    /// Its virtual address.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its text, with the names of where it goes; untrusted.
    pub text: String,
}

/// The reason why there is no listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The machine's instructions are not known.
    #[error("code of ELF machine {0} cannot be disassembled")]
    Machine(u16),
    /// The file holds no code there.
    #[error("the file holds no code at {0:#x}")]
    NoCode(u64),
}

/// Lists the instructions of a range of virtual addresses.
///
/// # Errors
/// There is no code of a known kind.
pub fn list(
    image: &Elf<'_>,
    names: &CodeNames<'_>,
    range: Range<u64>,
    syntax: Syntax,
) -> Result<Listing, ListError> {
    let x86 = |width| Language::X86(Disassembler::new(width, syntax, LineLayout::Listing));
    let (language, address_digits) = match image.machine() {
        elf::EM_X86_64 => (x86(Width::Bits64), 16),
        elf::EM_386 => (x86(Width::Bits32), 8),
        elf::EM_AARCH64 => (Language::Arm64(Arm64::default()), 16),
        machine => return Err(ListError::Machine(machine)),
    };
    let (index, section) =
        code_section(image, range.start).ok_or(ListError::NoCode(range.start))?;
    let code = image
        .bytes_of(section)
        .ok_or(ListError::NoCode(range.start))?;
    let code = within(code, section.address, &range).ok_or(ListError::NoCode(range.start))?;
    let mut lister = Lister {
        names,
        section: (index, section),
        language,
        lines: Vec::new(),
    };
    lister.walk(code, range.start);
    let section = String::from_utf8_lossy(section.name).into_owned();
    Ok(Listing {
        section,
        address_digits,
        lines: lister.lines,
    })
}

/// The section with the code at an address, and its number.
pub(crate) fn code_section<'s, 'a>(
    image: &'s Elf<'a>,
    address: u64,
) -> Option<(u16, &'s ElfSection<'a>)> {
    let is_code = |section: &ElfSection<'_>| section.flags & u64::from(elf::SHF_EXECINSTR) != 0;
    let holds = |section: &ElfSection<'_>| {
        address >= section.address && address - section.address < section.size
    };
    (0..)
        .zip(image.sections())
        .find(|(_, section)| is_code(section) && holds(section))
}

/// The bytes of a range, as far as the section goes.
pub(crate) fn within<'c>(code: &'c [u8], base: u64, range: &Range<u64>) -> Option<&'c [u8]> {
    let start = usize::try_from(range.start.checked_sub(base)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(base)?)
        .ok()?
        .min(code.len());
    code.get(start..end)
}

/// So many zeros are padding.
const SKIPPED_ZEROS: usize = 8;
/// And fewer than so many before the next symbol.
const SKIPPED_ZEROS_AT_END: usize = 3;

struct Lister<'n> {
    names: &'n CodeNames<'n>,
    /// The number of the section, and the section.
    section: (u16, &'n ElfSection<'n>),
    language: Language,
    lines: Vec<ListingLine>,
}

/// The instruction set of the code.
enum Language {
    X86(Disassembler),
    Arm64(Arm64),
}

impl Language {
    /// The text of an instruction with its length; what is none is so many bytes long.
    fn write(
        &mut self,
        code: &[u8],
        address: u64,
        names: &mut AddressNames<'_>,
        text: &mut String,
    ) -> usize {
        let (written, least) = match self {
            Language::X86(x86) => (x86.write(code, address, names, text), 1),
            Language::Arm64(arm) => (arm.write(code, address, names, text), 4),
        };
        written.unwrap_or_else(|| {
            text.push_str("(bad)");
            least
        })
    }
}

impl Lister<'_> {
    /// Every symbol begins a stretch of its own: bytes before it are no part of an instruction that runs on into it.
    fn walk(&mut self, code: &[u8], address: u64) {
        let (mut rest, mut address) = (code, address);
        while !rest.is_empty() {
            let mut name = String::new();
            let (index, section) = self.section;
            self.names.write_label(address, index, section, &mut name);
            self.lines.push(ListingLine::Label { address, name });
            let room = self
                .names
                .next(address)
                .map_or(u64::MAX, |next| next - address);
            let size = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
            let (stretch, after) = rest.split_at(size);
            self.instructions(stretch, address);
            address = address.wrapping_add(size as u64);
            rest = after;
        }
    }

    fn instructions(&mut self, code: &[u8], address: u64) {
        let (mut rest, mut address) = (code, address);
        while !rest.is_empty() {
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            if zeros >= SKIPPED_ZEROS || (zeros == rest.len() && zeros < SKIPPED_ZEROS_AT_END) {
                self.lines.push(ListingLine::Zeros);
                address = address.wrapping_add(zeros as u64);
                rest = &rest[zeros..];
                continue;
            }
            let mut text = String::new();
            let mut name = |address, out: &mut String| self.names.write(address, out);
            let length = self.language.write(rest, address, &mut name, &mut text);
            let (bytes, after) = rest.split_at(length.clamp(1, rest.len()));
            self.lines.push(ListingLine::Instruction(ListedInstruction {
                address,
                bytes: bytes.to_vec(),
                text,
            }));
            address = address.wrapping_add(bytes.len() as u64);
            rest = after;
        }
    }
}
