//! Build ids of files and of ELF notes on this machine.

use std::path::Path;

use oxperf_abi::BuildId;
use oxperf_objects::elf::{build_id_in_notes, build_id_of_file};
use oxperf_sys::files::open_regular;

/// The build id of the ELF file at `path`; `None` when it has none, cannot be read or is no ordinary file. The file may
/// be another user's, who may change it now.
pub(crate) fn of_file(path: &Path) -> Option<BuildId> {
    build_id_of_file(&open_regular(path).ok()?)
}

/// The build id among ELF notes in this machine's byte order.
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
