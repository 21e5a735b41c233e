//! Small ELF files, written as text: the programs and kernels that a recorded trace ran through.

use crate::bytes::{Bytes, Endian};
use crate::error::{NotationError, Read};
use crate::line::Line;
use crate::number;

/// An ELF file of x86, little-endian.
///
/// | line | words |
/// |---|---|
/// | `elf` | `type=exec\|dyn\|rel\|core`, `class=64\|32` |
/// | `code NAME` | `addr=N`, HEX: a section, and a loadable segment where the type has them; NAME `.text` by custom |
/// | `symbol NAME` | `at=ADDRESS`, `size=N`: a function of the section that holds the address |
/// | `reach NAME` | `at=ADDRESS`: in files of type `rel`, the four bytes there say how far a symbol is, of this file or another |
/// | `build_id` | HEX |
///
/// ```
/// let image = oxperf_testkit::Image::parse("elf type=exec\ncode .text addr=0x401000 9090c3\nsymbol f at=0x401000 size=3")?;
/// assert_eq!(&image.to_file()[..4], b"\x7fELF");
/// # Ok::<(), oxperf_testkit::NotationError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Image {
    kind: u16,
    class: Class,
    sections: Vec<Section>,
    symbols: Vec<Symbol>,
    reaches: Vec<Reach>,
    build_id: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Section {
    name: String,
    address: u64,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Symbol {
    name: String,
    at: u64,
    size: u64,
}

/// A place that waits for the address of a symbol.
#[derive(Clone, Debug)]
struct Reach {
    name: String,
    at: u64,
}

const RELOCATABLE: u16 = 1;
const CORE: u16 = 4;
/// Code begins where its page does, as the kernel maps it.
const PAGE: usize = 4096;

/// Width of addresses, and so the tables that hold them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Class {
    Bits32,
    #[default]
    Bits64,
}

impl Class {
    fn is_64(self) -> bool {
        self == Class::Bits64
    }

    /// Bytes of the ELF header.
    fn header(self) -> usize {
        if self.is_64() { 64 } else { 52 }
    }

    fn program_header(self) -> usize {
        if self.is_64() { 56 } else { 32 }
    }

    fn section_header(self) -> usize {
        if self.is_64() { 64 } else { 40 }
    }

    fn symbol(self) -> usize {
        if self.is_64() { 24 } else { 16 }
    }

    fn word(self, out: &mut Bytes, word: u64) {
        if self.is_64() {
            out.u64(word)
        } else {
            out.u32(word as u32)
        }
    }
}

impl Image {
    /// Reads the notation.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Image, NotationError> {
        let mut image = Image {
            kind: 2,
            ..Image::default()
        };
        for (index, line) in text.lines().enumerate() {
            image.add(line).map_err(|reason| NotationError {
                line: index + 1,
                reason,
            })?;
        }
        Ok(image)
    }

    fn add(&mut self, text: &str) -> Read<()> {
        let Some((first, mut line)) = Line::parse(text)? else {
            return Ok(());
        };
        match first.as_str() {
            "elf" => {
                self.kind = kind(&line.take("type").unwrap_or_default())?;
                self.class = class(&line.take("class").unwrap_or_default())?;
            }
            "code" => {
                let (name, address) = (
                    line.word("the section's name")?,
                    line.number_or_zero("addr")?,
                );
                let bytes = number::hex(&line.word("the code")?)?;
                self.sections.push(Section {
                    name,
                    address,
                    bytes,
                });
            }
            "symbol" => {
                let (name, at) = (line.word("the symbol's name")?, line.number_or_zero("at")?);
                self.symbols.push(Symbol {
                    name,
                    at,
                    size: line.number_or_zero("size")?,
                });
            }
            "reach" => {
                let (name, at) = (line.word("the symbol's name")?, line.number_or_zero("at")?);
                self.reaches.push(Reach { name, at });
            }
            "build_id" => self.build_id = number::hex(&line.word("the id")?)?,
            _ => return Err(format!("{first:?} is no line of an image")),
        }
        line.finish()
    }

    /// The bytes of the file.
    pub fn to_file(&self) -> Vec<u8> {
        let mut out = Bytes::new(Endian::Little);
        out.zero_to(self.class.header() + self.class.program_header() * self.segments());
        let mut table = SectionTable::default();
        for section in &self.sections {
            // The byte of an address stands at the same place of its page in the file.
            let at = out.len().next_multiple_of(PAGE) + section.address as usize % PAGE;
            out.zero_to(at);
            out.raw(&section.bytes);
            // What is not linked has no address yet.
            let address = if self.kind == RELOCATABLE {
                0
            } else {
                section.address
            };
            table.add(
                &section.name,
                [1, 6, address, at as u64, section.bytes.len() as u64, 0, 0],
            );
        }
        if self.kind != CORE {
            self.add_tables(&mut table, &mut out);
        }
        let places: Vec<u64> = table.entries.iter().map(|entry| entry.1[3]).collect();
        let (names, sections_at) = table.finish(self.class, &mut out);
        let mut file = out.into_vec();
        let head = self.head(&places, names, sections_at);
        file[..head.len()].copy_from_slice(&head);
        file
    }

    fn segments(&self) -> usize {
        if self.kind == RELOCATABLE {
            0
        } else {
            self.sections.len()
        }
    }

    /// Build id, symbols and their names.
    fn add_tables(&self, table: &mut SectionTable, out: &mut Bytes) {
        if !self.build_id.is_empty() {
            out.pad_to_8();
            let at = out.len();
            [4, self.build_id.len() as u32, 3]
                .into_iter()
                .for_each(|word| out.u32(word));
            out.raw(b"GNU\0");
            out.raw(&self.build_id);
            table.add(
                ".note.gnu.build-id",
                [7, 2, 0, at as u64, (out.len() - at) as u64, 0, 0],
            );
        }
        let mut names = vec![0];
        out.pad_to_8();
        let at = out.len();
        out.zero_to(at + self.class.symbol());
        let others = self.others();
        let own = self.symbols.iter().map(|symbol| {
            let (section, start) = self.section_of(symbol.at);
            let value = if self.kind == RELOCATABLE {
                symbol.at - start
            } else {
                symbol.at
            };
            (symbol.name.as_str(), section, [value, symbol.size])
        });
        for (name, section, [value, size]) in
            own.chain(others.iter().map(|name| (*name, 0, [0, 0])))
        {
            out.u32(names.len() as u32);
            if !self.class.is_64() {
                [value, size]
                    .into_iter()
                    .for_each(|word| out.u32(word as u32));
            }
            // A global function.
            out.raw(&[0x12, 0]);
            out.u16(section);
            if self.class.is_64() {
                [value, size].into_iter().for_each(|word| out.u64(word));
            }
            names.extend(name.bytes().chain([0]));
        }
        let symbols = table.entries.len() as u64 + 1;
        table.add(
            ".symtab",
            [2, 0, 0, at as u64, (out.len() - at) as u64, symbols + 1, 1],
        );
        let at = out.len();
        out.raw(&names);
        table.add(".strtab", [3, 0, 0, at as u64, names.len() as u64, 0, 0]);
        self.add_reaches(symbols, &others, table, out);
    }

    /// The symbols of other files, in the order in which they are reached for.
    fn others(&self) -> Vec<&str> {
        let mut others: Vec<&str> = Vec::new();
        for Reach { name, .. } in &self.reaches {
            if !others.contains(&name.as_str())
                && self.symbols.iter().all(|symbol| symbol.name != *name)
            {
                others.push(name);
            }
        }
        others
    }

    /// Words that are to be filled in: the distance of a symbol from the end of a four-byte word.
    fn add_reaches(
        &self,
        symbols: u64,
        others: &[&str],
        table: &mut SectionTable,
        out: &mut Bytes,
    ) {
        const RELATIVE: u64 = 4;
        let own = self.symbols.iter().map(|symbol| symbol.name.as_str());
        let names: Vec<&str> = own.chain(others.iter().copied()).collect();
        for (index, section) in self.sections.iter().enumerate() {
            let number = index as u16 + 1;
            let here = self
                .reaches
                .iter()
                .filter(|reach| self.section_of(reach.at).0 == number);
            out.pad_to_8();
            let at = out.len();
            for Reach { name, at } in here {
                let symbol = names
                    .iter()
                    .position(|known| known == name)
                    .map_or(0, |index| index as u64 + 1);
                [
                    at - section.address,
                    symbol << 32 | RELATIVE,
                    4_u64.wrapping_neg(),
                ]
                .into_iter()
                .for_each(|word| out.u64(word));
            }
            let size = (out.len() - at) as u64;
            if size > 0 {
                table.add(
                    &format!(".rela{}", section.name),
                    [4, 0, 0, at as u64, size, symbols, number.into()],
                );
            }
        }
    }

    /// The number of the section that holds an address, and its own; an absolute number if there is none.
    fn section_of(&self, address: u64) -> (u16, u64) {
        let holds = |section: &Section| {
            address
                .checked_sub(section.address)
                .is_some_and(|at| at < section.bytes.len() as u64)
        };
        let found = self.sections.iter().position(holds);
        found.map_or((0xfff1, 0), |index| {
            (index as u16 + 1, self.sections[index].address)
        })
    }

    /// The ELF header and the program headers.
    fn head(&self, places: &[u64], names: u16, sections_at: u64) -> Vec<u8> {
        const READ_EXECUTE: u32 = 5;
        let (class, mut out) = (self.class, Bytes::new(Endian::Little));
        out.raw(b"\x7fELF");
        out.raw(&[
            if class.is_64() { 2 } else { 1 },
            1,
            1,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ]);
        out.u16(self.kind);
        out.u16(if class.is_64() { 62 } else { 3 });
        out.u32(1);
        class.word(
            &mut out,
            self.sections.first().map_or(0, |section| section.address),
        );
        class.word(&mut out, class.header() as u64);
        class.word(&mut out, sections_at);
        out.u32(0);
        let sizes = [
            class.header(),
            class.program_header(),
            self.segments(),
            class.section_header(),
        ];
        sizes.into_iter().for_each(|half| out.u16(half as u16));
        [names + 1, names]
            .into_iter()
            .for_each(|half| out.u16(half));
        for (section, at) in self.sections.iter().zip(places).take(self.segments()) {
            let size = section.bytes.len() as u64;
            out.u32(1);
            if class.is_64() {
                out.u32(READ_EXECUTE);
            }
            [*at, section.address, 0, size, size]
                .into_iter()
                .for_each(|word| class.word(&mut out, word));
            if !class.is_64() {
                out.u32(READ_EXECUTE);
            }
            class.word(&mut out, PAGE as u64);
        }
        out.into_vec()
    }
}

fn kind(text: &str) -> Read<u16> {
    match text {
        "exec" | "" => Ok(2),
        "dyn" => Ok(3),
        "rel" => Ok(RELOCATABLE),
        "core" => Ok(CORE),
        _ => Err(format!("{text:?} is no type of file")),
    }
}

fn class(text: &str) -> Read<Class> {
    match text {
        "64" | "" => Ok(Class::Bits64),
        "32" => Ok(Class::Bits32),
        _ => Err(format!("{text:?} is no class of files")),
    }
}

/// Sections in file order: name, and type, flags, address, place, size, the index of a related one and `sh_info`.
#[derive(Default)]
struct SectionTable {
    entries: Vec<(String, [u64; 7])>,
}

impl SectionTable {
    fn add(&mut self, name: &str, fields: [u64; 7]) {
        self.entries.push((name.to_owned(), fields));
    }

    /// Writes the names and the table; gives the index of the names and where the table is.
    fn finish(mut self, class: Class, out: &mut Bytes) -> (u16, u64) {
        self.add(".shstrtab", [3, 0, 0, 0, 0, 0, 0]);
        let names_at = out.len();
        let mut starts = Vec::new();
        out.u8(0);
        for (name, _) in &self.entries {
            starts.push((out.len() - names_at) as u32);
            out.text(name, 1);
        }
        let size = out.len() - names_at;
        if let Some((_, fields)) = self.entries.last_mut() {
            (fields[3], fields[4]) = (names_at as u64, size as u64);
        }
        out.pad_to_8();
        let table_at = out.len();
        out.zero_to(table_at + class.section_header());
        for ((_, [kind, flags, address, at, size, link, info]), start) in
            self.entries.iter().zip(starts)
        {
            out.u32(start);
            out.u32(*kind as u32);
            [*flags, *address, *at, *size]
                .into_iter()
                .for_each(|word| class.word(out, word));
            out.u32(*link as u32);
            out.u32(*info as u32);
            class.word(out, if *flags == 6 { 16 } else { 4 });
            class.word(out, if *kind == 2 { class.symbol() as u64 } else { 0 });
        }
        (self.entries.len() as u16, table_at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_where_its_segment_says() {
        let text =
            "elf type=core\ncode a addr=0xffffffff81000010 90c3\ncode b addr=0xffffffffc0000000 cc";
        let file = Image::parse(text).unwrap().to_file();
        let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        for (header, address, code) in [
            (64, 0xffff_ffff_8100_0010, &[0x90, 0xc3][..]),
            (120, 0xffff_ffff_c000_0000, &[0xcc]),
        ] {
            let (at, size) = (word(header + 8) as usize, word(header + 32) as usize);
            assert_eq!((word(header + 16), &file[at..at + size]), (address, code));
        }
    }

    #[test]
    fn mistakes_are_errors() {
        assert!(Image::parse("elf type=x").is_err());
        assert!(Image::parse("cod .text addr=0 90").is_err());
    }
}
