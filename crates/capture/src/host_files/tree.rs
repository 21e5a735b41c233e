//! Small files of the kernel below a root.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use oxperf_sys::Sysfs;

use super::cpu_set::CpuSet;

/// `/proc` and `/sys` below some root. What cannot be read is `None`: the kernel shows different files on every
/// machine.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: PathBuf,
    sysfs: Sysfs,
}

impl Tree {
    pub(super) fn new(root: PathBuf, sysfs: Sysfs) -> Tree {
        Tree { root, sysfs }
    }

    /// The file that a path from the root means: those below `sys` are where sysfs is.
    fn path(&self, path: &str) -> PathBuf {
        match path.strip_prefix("sys/") {
            Some(below) => self.sysfs.path(below),
            None => self.root.join(path),
        }
    }

    /// Returns whether there is a file of this path.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The text of a file without the white space around it.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The first of `paths` that can be read.
    pub(super) fn first_text(&self, paths: &[String]) -> Option<String> {
        paths.iter().find_map(|path| self.text(path))
    }

    /// A file that holds one decimal number.
    pub(super) fn number<N: FromStr>(&self, path: &str) -> Option<N> {
        self.text(path)?.parse().ok()
    }

    /// A file that holds a list of CPUs or nodes.
    pub(super) fn cpus(&self, path: &str) -> Option<CpuSet> {
        self.text(path)?.parse().ok()
    }

    /// The names in a folder, sorted.
    pub(super) fn names(&self, path: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.path(path)).ok()?;
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        Some(names)
    }
}
