//! The shared objects that a program loads, as its dynamic section names them.

use object::elf;

use super::Elf;

/// Most entries that are read: hostile files may hold any number.
const MOST_ENTRIES: usize = 4096;

/// The shared objects of a program and the folders that it wants them from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dependencies<'a> {
    /// The names, such as `libc.so.6`, in their order.
    pub names: Vec<&'a [u8]>,
    /// The folders, as they are written: `$ORIGIN` stands for the program's own.
    pub folders: Vec<&'a [u8]>,
}

impl<'a> Elf<'a> {
    /// The shared objects that the dynamic section names; none for a static program.
    pub fn dependencies(&self) -> Dependencies<'a> {
        let mut found = Dependencies::default();
        let Some(section) = self.section_of_kind(elf::SHT_DYNAMIC) else {
            return found;
        };
        let strings = usize::try_from(section.link).ok();
        let strings = strings.and_then(|link| self.sections.get(link));
        let strings = strings.and_then(|strings| self.bytes_of(strings));
        let (Some(entries), Some(strings)) = (self.bytes_of(section), strings) else {
            return found;
        };
        let word = if self.is_64 { 8 } else { 4 };
        for entry in entries.chunks_exact(2 * word).take(MOST_ENTRIES) {
            let (tag, value) = entry.split_at(word);
            let name = || text_at(strings, self.word(value));
            match self.word(tag) as i64 {
                elf::DT_NULL => break,
                elf::DT_NEEDED => found.names.extend(name()),
                elf::DT_RUNPATH | elf::DT_RPATH => {
                    let folders = name().into_iter();
                    found
                        .folders
                        .extend(folders.flat_map(|all| all.split(|byte| *byte == b':')));
                }
                _ => {}
            }
        }
        found
    }

    /// A number of as many bytes as there are, in the file's order.
    fn word(&self, bytes: &[u8]) -> u64 {
        let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        match self.little_endian {
            true => bytes.iter().rev().fold(0, add),
            false => bytes.iter().fold(0, add),
        }
    }
}

/// The text that begins at an offset and ends before a NUL; `None` where it is empty or outside.
fn text_at(strings: &[u8], offset: u64) -> Option<&[u8]> {
    let rest = strings.get(usize::try_from(offset).ok()?..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(&rest[..end]).filter(|text| !text.is_empty())
}
