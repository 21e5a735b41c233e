//! Paths of the file of a kernel module that a recording knows by its name alone, `[ext4]`, or by the path of another
//! machine.

use std::fs;
use std::path::{Path, PathBuf};

/// Kernels whose modules are searched.
const MOST_KERNELS: usize = 64;
/// Longest list of modules; real ones take less than a megabyte.
const LIST_LIMIT: u64 = 64 << 20;

/// The installed modules of that name, of any kernel, below a root.
pub(super) fn named(root: &Path, recorded: &[u8]) -> impl Iterator<Item = PathBuf> {
    let wanted = name(recorded);
    let kernels = fs::read_dir(root.join("lib/modules"))
        .into_iter()
        .flatten()
        .take(MOST_KERNELS);
    kernels.filter_map(move |kernel| {
        let folder = kernel.ok()?.path();
        let list = folder.join("modules.dep");
        let short =
            fs::metadata(&list).is_ok_and(|data| data.is_file() && data.len() <= LIST_LIMIT);
        let text = fs::read_to_string(list).ok().filter(|_| short)?;
        // `kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz ...`
        let mut paths = text.lines().filter_map(|line| line.split(':').next());
        let path = paths.find(|path| name(path.as_bytes()) == wanted)?;
        let inside = !path.starts_with('/') && !Path::new(path).iter().any(|part| part == "..");
        inside.then(|| folder.join(path))
    })
}

/// A module's name, with `_` for `-` as the kernel has it: of `[ext4]` and of a path alike.
fn name(recorded: &[u8]) -> Vec<u8> {
    let file = recorded
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    let file = file
        .strip_prefix(b"[")
        .and_then(|rest| rest.strip_suffix(b"]"))
        .unwrap_or(file);
    let end = file
        .windows(3)
        .position(|part| part == b".ko")
        .unwrap_or(file.len());
    file.iter()
        .take(end)
        .map(|byte| if *byte == b'-' { b'_' } else { *byte })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_one_name_however_it_is_told() {
        for told in [
            "[snd_hda]",
            "snd-hda.ko",
            "/lib/modules/6.1/kernel/sound/snd-hda.ko.xz",
        ] {
            assert_eq!(name(told.as_bytes()), b"snd_hda", "{told}");
        }
    }

    #[test]
    fn an_installed_module_is_found_inside_of_its_folder_alone() {
        let root = std::env::temp_dir().join(format!("oxperf-modules-{}", std::process::id()));
        let folder = root.join("lib/modules/6.1");
        fs::create_dir_all(&folder).unwrap();
        let list = "kernel/a/other.ko:\nkernel/a/snd-hda.ko.xz: kernel/a/other.ko\n../../bad.ko:\n/etc/worse.ko:\n";
        fs::write(folder.join("modules.dep"), list).unwrap();
        let found = |recorded: &[u8]| named(&root, recorded).collect::<Vec<_>>();
        assert_eq!(found(b"[snd_hda]"), [folder.join("kernel/a/snd-hda.ko.xz")]);
        assert_eq!(found(b"[bad]"), <[PathBuf; 0]>::default());
        assert_eq!(found(b"[worse]"), <[PathBuf; 0]>::default());
        fs::remove_dir_all(root).unwrap();
    }
}
