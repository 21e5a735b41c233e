//! Bytes as a tar archive: reading ends, no name or link leads out, and what was read is the same after it was written.

#![no_main]

use std::io::Read;
use std::path::Component;

use libfuzzer_sys::fuzz_target;
use oxperf_tar::{ArchiveEntry, ArchiveReader, ArchiveWriter, EntryKind};

/// The entries up to the first damage, with their bytes.
fn entries(bytes: &[u8]) -> Vec<(ArchiveEntry, Vec<u8>)> {
    let (mut reader, mut entries) = (ArchiveReader::new(bytes), Vec::new());
    while let Ok(Some(entry)) = reader.next_entry() {
        let mut contents = Vec::new();
        if reader.contents().read_to_end(&mut contents).is_err() {
            break;
        }
        // Links may claim contents, which nobody unpacks.
        if !matches!(entry.kind, EntryKind::File { .. }) {
            contents.clear();
        }
        entries.push((entry, contents));
    }
    entries
}

fuzz_target!(|bytes: &[u8]| {
    let read = entries(bytes);
    let mut writer = ArchiveWriter::new(Vec::new());
    let mut written = Vec::new();
    for (entry, contents) in &read {
        assert!(
            entry
                .path
                .components()
                .all(|component| matches!(component, Component::Normal(_)))
        );
        let Some(name) = entry.path.to_str().filter(|name| !name.is_empty()) else {
            continue;
        };
        let wrote = match &entry.kind {
            EntryKind::File { size } => {
                assert_eq!(*size, contents.len() as u64);
                writer.file(name, *size, entry.modified, &mut &contents[..])
            }
            EntryKind::Link { target } => match target.to_str() {
                Some(target) => writer.link(name, target),
                None => continue,
            },
            EntryKind::Folder => continue,
        };
        match wrote {
            Ok(()) => written.push((entry, contents)),
            Err(_) => return,
        }
    }
    let again = entries(&writer.finish().expect("a vector grows"));
    assert_eq!(again.len(), written.len());
    for ((entry, contents), (first, before)) in again.iter().zip(written) {
        assert_eq!(
            (&entry.path, &entry.kind, contents),
            (&first.path, &first.kind, before)
        );
    }
});
