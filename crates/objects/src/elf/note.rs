//! Identity: the build id note and the debug link section.

use object::elf;
use oxperf_abi::BuildId;

use super::Elf;

/// Longest run of notes that is searched; real ones take less than a kilobyte.
pub(super) const NOTES_LIMIT: usize = 1 << 20;

/// The file that holds the debug information of a stripped one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugLink<'a> {
    /// A bare file name; never holds a `/`.
    pub name: &'a [u8],
    /// CRC-32 of that whole file.
    pub crc: u32,
}

/// The file that holds what several files' debug information has in common, as `dwz -m` makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlternateLink<'a> {
    /// Its path, absolute or relative to the file that names it.
    pub path: &'a [u8],
    /// Its identity.
    pub build_id: BuildId,
}

/// The build id in the file's note sections, else in its note segments.
pub(super) fn build_id(file: &Elf<'_>) -> Option<BuildId> {
    let in_sections = file
        .sections
        .iter()
        .filter(|s| s.kind == elf::SHT_NOTE)
        .filter_map(|s| file.bytes_of(s));
    let in_segments = file
        .note_segments
        .iter()
        .filter_map(|&(offset, size)| file.bytes(offset, size));
    in_sections
        .chain(in_segments)
        .find_map(|notes| build_id_in_notes(notes, file.little_endian))
}

/// The build id among the notes of `bytes`, as in `/sys/kernel/notes` or a note section.
pub fn build_id_in_notes(bytes: &[u8], little_endian: bool) -> Option<BuildId> {
    let mut rest = bytes.get(..NOTES_LIMIT).unwrap_or(bytes);
    loop {
        let (name, kind, content, after) = split_note(rest, little_endian)?;
        if kind == elf::NT_GNU_BUILD_ID && name == b"GNU\0" {
            return BuildId::new(content);
        }
        rest = after;
    }
}

pub(super) type Note<'a> = (&'a [u8], u32, &'a [u8], &'a [u8]);

/// Name, type and content of the first note, and what follows it. Names and contents are padded to 4 bytes.
pub(super) fn split_note(bytes: &[u8], little_endian: bool) -> Option<Note<'_>> {
    let (name_size, rest) = split_word(bytes, little_endian)?;
    let (content_size, rest) = split_word(rest, little_endian)?;
    let (kind, rest) = split_word(rest, little_endian)?;
    let (name, rest) = split_padded(rest, name_size)?;
    let (content, rest) = split_padded(rest, content_size)?;
    Some((name, kind, content, rest))
}

fn split_word(bytes: &[u8], little_endian: bool) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk::<4>()?;
    Some((
        if little_endian {
            u32::from_le_bytes(*word)
        } else {
            u32::from_be_bytes(*word)
        },
        rest,
    ))
}

fn split_padded(bytes: &[u8], size: u32) -> Option<(&[u8], &[u8])> {
    let size = usize::try_from(size).ok()?;
    let (content, _) = bytes.split_at_checked(size)?;
    let rest = bytes
        .get(size.checked_next_multiple_of(4)?..)
        .unwrap_or_default();
    Some((content, rest))
}

/// The content of `.gnu_debuglink`: a name, its NUL, padding to 4 bytes, a checksum.
pub(super) fn debug_link<'a>(file: &Elf<'a>) -> Option<DebugLink<'a>> {
    let bytes = file.bytes_of(file.section(b".gnu_debuglink")?)?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let (name, _) = bytes.split_at_checked(end)?;
    let (crc, _) = split_word(
        bytes.get((end + 1).checked_next_multiple_of(4)?..)?,
        file.little_endian,
    )?;
    let bare = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
    bare.then_some(DebugLink { name, crc })
}

/// The content of `.gnu_debugaltlink`: a path, its NUL, a build id.
pub(super) fn alternate_link<'a>(file: &Elf<'a>) -> Option<AlternateLink<'a>> {
    let bytes = file.bytes_of(file.section(b".gnu_debugaltlink")?)?;
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let (path, id) = bytes.split_at_checked(end)?;
    Some(AlternateLink {
        path,
        build_id: BuildId::new(id.get(1..)?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, content.len() as u32, kind] {
            bytes.extend(word.to_le_bytes());
        }
        for part in [name, content] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let mut notes = note(b"Linux\0", 6, &[1, 2, 3]);
        notes.extend(note(b"GNU\0", 5, &[9; 16]));
        notes.extend(note(b"GNU\0", 3, &[7; 20]));
        assert_eq!(build_id_in_notes(&notes, true), BuildId::new(&[7; 20]));
    }

    #[test]
    fn a_cut_note_names_nothing() {
        let notes = note(b"GNU\0", 3, &[7; 20]);
        for end in 0..notes.len() {
            assert_eq!(build_id_in_notes(&notes[..end], true), None, "cut at {end}");
        }
    }

    #[test]
    fn a_size_that_leaves_the_file_names_nothing() {
        let mut notes = note(b"GNU\0", 3, &[7; 20]);
        notes[0..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(build_id_in_notes(&notes, true), None);
    }
}
