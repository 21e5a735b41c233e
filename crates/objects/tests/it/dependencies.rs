//! The shared objects that dynamic sections name, hostile ones among them.

use oxperf_objects::Elf;
use oxperf_objects::elf::Dependencies;

use crate::elf::{ElfSection, file};

const DYNAMIC: u32 = 6;
const NULL: u64 = 0;
const NEEDED: u64 = 1;
const RUNPATH: u64 = 29;

/// A file with these entries and `\0libm.so.6\0$ORIGIN:/opt/lib\0` as their strings.
fn with_entries(entries: &[(u64, u64)]) -> Vec<u8> {
    let section = |name, kind, bytes, link| ElfSection {
        name,
        kind,
        flags: 2,
        address: 0,
        bytes,
        link,
        entry_size: 16,
    };
    let words = entries.iter().flat_map(|(tag, value)| [*tag, *value]);
    let words = words.flat_map(u64::to_le_bytes).collect();
    let strings = b"\0libm.so.6\0$ORIGIN:/opt/lib\0".to_vec();
    let sections = [
        section(".dynstr", 3, strings, 0),
        section(".dynamic", DYNAMIC, words, 1),
    ];
    file(3, (0, 0, 0x1000), &sections)
}

#[test]
fn names_and_folders_stand_in_the_dynamic_section() {
    let bytes = with_entries(&[(NEEDED, 1), (RUNPATH, 11), (NULL, 0), (NEEDED, 1)]);
    let found = Elf::parse(&bytes).unwrap().dependencies();
    assert_eq!(found.names, [b"libm.so.6"]);
    assert_eq!(found.folders, [&b"$ORIGIN"[..], b"/opt/lib"]);
}

#[test]
fn what_lies_outside_the_strings_is_no_name() {
    let bytes = with_entries(&[(NEEDED, 0), (NEEDED, 1000), (NEEDED, u64::MAX)]);
    let found = Elf::parse(&bytes).unwrap().dependencies();
    assert_eq!(found, Dependencies::default());
}
