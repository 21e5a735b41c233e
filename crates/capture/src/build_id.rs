//! Build ids of files and of notes on this machine.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use oxperf_abi::BuildId;
use oxperf_objects::elf::{build_id_in_notes, build_id_of_file};

/// The build id of the ELF file at `path`; `None` when it has none, cannot be read or is no ordinary file. The file may
/// be another user's, who may change it now.
pub(crate) fn of_file(path: &Path) -> Option<BuildId> {
    // Opening a FIFO or a device could wait for ever or do something; one may be put there in between.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = OpenOptions::new().read(true).custom_flags(oxperf_sys::NON_BLOCKING).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    build_id_of_file(&file)
}

/// The build id among notes in this machine's byte order.
pub(crate) fn in_notes(notes: &[u8]) -> Option<BuildId> {
    build_id_in_notes(notes, cfg!(target_endian = "little"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_one() {
        assert!(of_file(Path::new("/proc/self/exe")).is_some());
    }

    #[test]
    fn what_is_no_elf_file_has_none() {
        assert_eq!(of_file(Path::new("/")), None);
        assert_eq!(of_file(Path::new("/dev/null")), None);
        assert_eq!(of_file(Path::new("/no/such/file")), None);
        assert_eq!(of_file(Path::new("/etc/passwd")), None);
    }
}
