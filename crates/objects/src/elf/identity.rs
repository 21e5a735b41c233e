//! The build id of a file that may change under our hands: its headers and notes are read, and nothing is mapped.
//!
//! A recorder looks at the binaries of other users. Whoever owns one can cut it short at any moment, and that would end
//! a process that touches a mapping of it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use object::elf;
use object::endian::Endianness;
use object::pod::{Pod, slice_from_bytes};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use oxperf_abi::BuildId;

use super::note::{NOTES_LIMIT, build_id_in_notes};

/// The build id of an ELF file, in its note segments or else in its note sections; `None` when it has none, or is cut or
/// changed while it is read.
pub fn build_id_of_file(file: &File) -> Option<BuildId> {
    let start = bytes_at(file, 0, size_of::<elf::FileHeader64<Endianness>>())?;
    match start.get(..5)? {
        [0x7f, b'E', b'L', b'F', elf::ELFCLASS64] => {
            build_id::<elf::FileHeader64<Endianness>>(file, &start)
        }
        [0x7f, b'E', b'L', b'F', elf::ELFCLASS32] => {
            build_id::<elf::FileHeader32<Endianness>>(file, &start)
        }
        _ => None,
    }
}

fn build_id<H: FileHeader<Endian = Endianness>>(file: &File, start: &[u8]) -> Option<BuildId> {
    let header = H::parse(start).ok()?;
    let endian = header.endian().ok()?;
    let little_endian = header.is_little_endian();
    // As many bytes of notes as are searched of a file that is there as a whole.
    let mut budget = NOTES_LIMIT as u64;
    let mut search = |(offset, size): (u64, u64)| {
        let size = size.min(budget);
        budget -= size;
        build_id_in_notes(
            &bytes_at(file, offset, usize::try_from(size).ok()?)?,
            little_endian,
        )
    };
    let segments: Vec<H::ProgramHeader> = table(
        file,
        header.e_phoff(endian).into(),
        header.e_phentsize(endian),
        header.e_phnum(endian),
    );
    let notes = segments
        .iter()
        .filter(|segment| segment.p_type(endian) == elf::PT_NOTE);
    let mut places = notes.map(|segment| {
        (
            segment.p_offset(endian).into(),
            segment.p_filesz(endian).into(),
        )
    });
    if let Some(found) = places.find_map(&mut search) {
        return Some(found);
    }
    let sections: Vec<H::SectionHeader> = table(
        file,
        header.e_shoff(endian).into(),
        header.e_shentsize(endian),
        header.e_shnum(endian),
    );
    let notes = sections
        .iter()
        .filter(|section| section.sh_type(endian) == elf::SHT_NOTE);
    let mut places = notes.map(|section| {
        (
            section.sh_offset(endian).into(),
            section.sh_size(endian).into(),
        )
    });
    places.find_map(search)
}

/// The entries of a table; none when they are of another size or not all there.
pub(super) fn table<T: Pod>(file: &File, offset: u64, entry_size: u16, count: u16) -> Vec<T> {
    let (size, count) = (size_of::<T>(), usize::from(count));
    if usize::from(entry_size) != size {
        return Vec::new();
    }
    let bytes = bytes_at(file, offset, size * count).unwrap_or_default();
    slice_from_bytes(&bytes, count)
        .map(|(entries, _)| entries.to_vec())
        .unwrap_or_default()
}

/// At most `size` bytes from `offset` on; fewer where the file ends.
pub(super) fn bytes_at(file: &File, offset: u64, size: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    let mut filled = 0;
    while filled < size {
        match file.read_at(&mut bytes[filled..], offset.checked_add(filled as u64)?) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Elf;
    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn own_program() -> Vec<u8> {
        fs::read("/proc/self/exe").unwrap()
    }

    fn file(name: &str, bytes: &[u8]) -> (PathBuf, File) {
        let path =
            std::env::temp_dir().join(format!("oxperf-identity-{name}-{}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        let file = File::open(&path).unwrap();
        (path, file)
    }

    #[test]
    fn it_is_the_one_that_the_whole_file_has() {
        let whole = own_program();
        let expected = Elf::parse(&whole).unwrap().build_id();
        assert!(
            expected.is_some(),
            "programs of this compiler have build ids"
        );
        assert_eq!(
            build_id_of_file(&File::open("/proc/self/exe").unwrap()),
            expected
        );
        let (path, cut) = file("cut", &whole[..whole.len().min(4096)]);
        // Its notes stand in front.
        assert_eq!(build_id_of_file(&cut), expected);
        fs::write(&path, &whole[..40]).unwrap();
        assert_eq!(build_id_of_file(&cut), None);
        fs::write(&path, b"#!/bin/sh").unwrap();
        assert_eq!(build_id_of_file(&cut), None);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn tables_that_claim_anything_are_read_in_bounds() {
        let mut whole = own_program();
        // 64-bit headers: places, entry sizes and counts of both tables.
        whole[32..48].fill(0xff);
        whole[54..62].fill(0xff);
        let (path, file) = file("claims", &whole);
        assert_eq!(build_id_of_file(&file), None);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_cut_meanwhile_ends_nothing() {
        let whole = own_program();
        let whole = &whole[..whole.len().min(64 << 10)];
        let (path, file) = file("changing", whole);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    fs::write(&path, whole).unwrap();
                }
            });
            let expected = Elf::parse(&own_program()).unwrap().build_id();
            for _ in 0..5000 {
                let found = build_id_of_file(&file);
                assert!(found.is_none() || found == expected);
            }
            done.store(true, Ordering::Relaxed);
        });
        fs::remove_file(path).unwrap();
    }
}
