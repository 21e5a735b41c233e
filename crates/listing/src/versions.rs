//! Versions of the symbols for the loader, as they are shown behind names: `qsort@@GLIBC_2.2.5`.

use std::collections::HashMap;

use oxperf_objects::Elf;

/// A symbol that is hidden behind a newer version of its name.
const HIDDEN: u16 = 0x8000;
/// The version of the file itself.
const BASE: u16 = 1;

/// The version of each symbol.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// For each symbol of the table.
    numbers: Vec<u16>,
    /// Versions that the file defines, by number.
    defined: HashMap<u16, String>,
    /// Versions that the file needs of others, by number.
    needed: HashMap<u16, String>,
}

impl Versions {
    /// Reads the version sections; without them no symbol has one. Only files of little-endian machines.
    pub(crate) fn read(file: &Elf<'_>) -> Versions {
        let section = |name: &[u8]| {
            file.section(name)
                .and_then(|section| file.bytes_of(section))
        };
        let (Some(numbers), Some(strings)) = (section(b".gnu.version"), section(b".dynstr")) else {
            return Versions::default();
        };
        let defined = section(b".gnu.version_d").unwrap_or_default();
        let needed = section(b".gnu.version_r").unwrap_or_default();
        Versions {
            numbers: numbers
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect(),
            defined: definitions(defined, strings),
            needed: needs(needed, strings),
        }
    }

    /// The text behind the name of the symbol at a place of the table.
    pub(crate) fn suffix(&self, index: usize) -> String {
        let Some(number) = self.numbers.get(index).copied() else {
            return String::new();
        };
        let (hidden, number) = (number & HIDDEN != 0, number & !HIDDEN);
        let own = match number {
            0 => return String::new(),
            BASE => Some("Base"),
            _ => self.defined.get(&number).map(String::as_str),
        };
        match (own, self.needed.get(&number)) {
            (Some(own), _) if hidden => format!("@{own}"),
            (Some(own), _) => format!("@@{own}"),
            (None, Some(needed)) => format!("@{needed}"),
            (None, None) => String::new(),
        }
    }
}

/// A chain of `Verdef`: number at 4, offset of the names at 12, of the next at 16.
fn definitions(bytes: &[u8], strings: &[u8]) -> HashMap<u16, String> {
    let mut found = HashMap::new();
    let mut at = 0;
    while let (Some(number), Some(names), Some(next)) =
        (half(bytes, at, 4), word(bytes, at, 12), word(bytes, at, 16))
    {
        if let Some(name) = at.checked_add(names).and_then(|at| word(bytes, at, 0)) {
            found.insert(number & !HIDDEN, text(strings, name));
        }
        match at.checked_add(next) {
            Some(after) if after > at => at = after,
            _ => break,
        }
    }
    found
}

/// A chain of `Verneed`: offset of its parts at 8, of the next at 12; a part has its number at 6, its name at 8, and
/// the offset of the next at 12.
fn needs(bytes: &[u8], strings: &[u8]) -> HashMap<u16, String> {
    let mut found = HashMap::new();
    let mut at = 0;
    while let (Some(parts), Some(next)) = (word(bytes, at, 8), word(bytes, at, 12)) {
        let mut part = at.saturating_add(parts);
        while let (Some(number), Some(name), Some(step)) = (
            half(bytes, part, 6),
            word(bytes, part, 8),
            word(bytes, part, 12),
        ) {
            // A file of other needs is a damaged one: their chains would cross.
            if found
                .insert(number & !HIDDEN, text(strings, name))
                .is_some()
            {
                break;
            }
            match part.checked_add(step) {
                Some(after) if after > part => part = after,
                _ => break,
            }
        }
        match at.checked_add(next) {
            Some(after) if after > at => at = after,
            _ => break,
        }
    }
    found
}

fn half(bytes: &[u8], base: usize, at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(
        *bytes.get(base.checked_add(at)?..)?.first_chunk()?,
    ))
}

fn word(bytes: &[u8], base: usize, at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(
        *bytes.get(base.checked_add(at)?..)?.first_chunk()?,
    ))
    .ok()
}

fn text(strings: &[u8], at: usize) -> String {
    let tail = strings.get(at..).unwrap_or_default();
    String::from_utf8_lossy(tail.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}
