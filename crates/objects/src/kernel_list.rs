//! The list of symbols of the kernel that runs here (`/proc/kallsyms`), and what tells whether it has changed.
//!
//! The kernel makes the list's text anew for each reader, which takes it a tenth of a second; what the list depends on is
//! told in a hundredth of that.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use oxperf_abi::BuildId;

use crate::contents::Contents;
use crate::elf::build_id_in_notes;
use crate::error::Rejection;

const LIST: &str = "/proc/kallsyms";

/// Bytes of the list's text that tell whether addresses are shown: some at the very beginning may be zero all the same.
const HEAD: u64 = 4096;

/// The state of the kernel that runs here, as far as its list of symbols depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelState {
    /// This boot of this machine.
    pub boot: BuildId,
    /// All that the list depends on: the boot, whether this reader is shown addresses, and which modules lie where.
    /// Programs that were loaded into the kernel (BPF) are not among it.
    pub details: Vec<u8>,
}

impl KernelState {
    /// The state at this moment; `None` where the system does not tell it.
    pub fn now() -> Option<KernelState> {
        KernelState::of(Path::new("/proc"), Path::new("/sys/module"))
    }

    fn of(proc: &Path, modules: &Path) -> Option<KernelState> {
        let boot = fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
        let mut details = boot.trim().as_bytes().to_vec();
        File::open(proc.join("kallsyms"))
            .ok()?
            .take(HEAD)
            .read_to_end(&mut details)
            .ok()?;
        // A kernel that knows no modules has no such file.
        let loaded = fs::read_to_string(proc.join("modules")).unwrap_or_default();
        for module in loaded.lines() {
            append_module(&mut details, module, modules);
        }
        Some(KernelState {
            boot: boot_id(boot.trim())?,
            details,
        })
    }

    /// The list's whole text.
    ///
    /// # Errors
    /// The list cannot be read.
    pub fn list() -> Result<Contents, Rejection> {
        Contents::read(Path::new(LIST))
    }
}

/// A line of `/proc/modules` without the count of its users, which changes all the time, and what tells one build of the
/// module from another that takes its place.
fn append_module(details: &mut Vec<u8>, line: &str, modules: &Path) {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    details.push(b'\n');
    details.extend_from_slice(name.as_bytes());
    for (number, word) in words
        .enumerate()
        .filter(|(number, _)| !matches!(number, 1 | 2))
    {
        details.push(if number == 0 { b'+' } else { b' ' });
        details.extend_from_slice(word.as_bytes());
    }
    let folder = modules.join(name);
    let build = ["notes/.note.gnu.build-id", "srcversion"];
    let build = build
        .iter()
        .find_map(|file| fs::read(folder.join(file)).ok());
    details.extend(build.unwrap_or_default());
}

/// The sixteen bytes of `5e09cb9f-48da-495c-89e7-1af9a4e50759`.
fn boot_id(text: &str) -> Option<BuildId> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits.chunks(2).map(byte).collect::<Option<_>>()?;
    BuildId::new(&bytes).filter(|_| bytes.len() == 16)
}

/// The build id of the kernel that runs here, where the system gives it.
pub fn running_kernel_build_id() -> Option<BuildId> {
    let notes = fs::read("/sys/kernel/notes").ok()?;
    build_id_in_notes(&notes, cfg!(target_endian = "little"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: &str = "5e09cb9f-48da-495c-89e7-1af9a4e50759\n";

    fn state(list: &str, modules: &str, build: &str) -> KernelState {
        let root = std::env::temp_dir().join(format!("oxperf-kernel-state-{}", std::process::id()));
        let (proc, sys) = (root.join("proc"), root.join("module"));
        fs::create_dir_all(proc.join("sys/kernel/random")).unwrap();
        fs::create_dir_all(sys.join("ext4")).unwrap();
        fs::write(proc.join("sys/kernel/random/boot_id"), BOOT).unwrap();
        fs::write(proc.join("kallsyms"), list).unwrap();
        fs::write(proc.join("modules"), modules).unwrap();
        fs::write(sys.join("ext4/srcversion"), build).unwrap();
        let state = KernelState::of(&proc, &sys).unwrap();
        fs::remove_dir_all(root).unwrap();
        state
    }

    #[test]
    fn whatever_changes_the_list_changes_the_state() {
        let seen = |list, modules, build| state(list, modules, build).details;
        let now = seen(
            "ffffffff81000000 T _text\n",
            "ext4 4096 1 - Live 0xffffffffc0201000\n",
            "A",
        );
        let same = seen(
            "ffffffff81000000 T _text\n",
            "ext4 4096 7 a,b, Live 0xffffffffc0201000\n",
            "A",
        );
        assert_eq!(now, same, "users of a module name nothing");
        for (list, modules, build) in [
            (
                "0000000000000000 T _text\n",
                "ext4 4096 1 - Live 0xffffffffc0201000\n",
                "A",
            ),
            (
                "ffffffff81000000 T _text\n",
                "ext4 4096 1 - Live 0xffffffffc0301000\n",
                "A",
            ),
            (
                "ffffffff81000000 T _text\n",
                "ext4 8192 1 - Live 0xffffffffc0201000\n",
                "A",
            ),
            (
                "ffffffff81000000 T _text\n",
                "ext4 4096 1 - Unloading 0xffffffffc0201000\n",
                "A",
            ),
            (
                "ffffffff81000000 T _text\n",
                "ext4 4096 1 - Live 0xffffffffc0201000\n",
                "B",
            ),
            ("ffffffff81000000 T _text\n", "", "A"),
        ] {
            assert_ne!(now, seen(list, modules, build), "{list}{modules}{build}");
        }
    }

    #[test]
    fn a_boot_is_known_by_sixteen_bytes() {
        assert_eq!(
            boot_id(BOOT.trim()).map(|id| id.to_string()),
            Some(BOOT.trim().replace('-', ""))
        );
        assert_eq!(["", "zz", "abcd"].map(boot_id), [None; 3]);
    }
}
