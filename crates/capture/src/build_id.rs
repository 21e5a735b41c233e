//! Build ids of files and of notes on this machine.

use std::fs;
use std::path::Path;

use oxperf_abi::BuildId;
use oxperf_objects::Elf;
use oxperf_objects::elf::build_id_in_notes;
use oxperf_sys::MappedFile;

/// The build id of the ELF file at `path`; `None` when it has none, cannot be read or is no ordinary file.
pub(crate) fn of_file(path: &Path) -> Option<BuildId> {
    // Opening a FIFO or a device could wait for ever or do something.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let image = MappedFile::open(path).ok()?;
    Elf::parse(image.as_ref()).ok()?.build_id()
}

/// The build id among notes in this machine's byte order.
pub(crate) fn in_notes(notes: &[u8]) -> Option<BuildId> {
    build_id_in_notes(notes, cfg!(target_endian = "little"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_file_has_none() {
        assert_eq!(of_file(Path::new("/")), None);
        assert_eq!(of_file(Path::new("/dev/null")), None);
        assert_eq!(of_file(Path::new("/no/such/file")), None);
        assert_eq!(of_file(Path::new("/etc/passwd")), None);
    }
}
