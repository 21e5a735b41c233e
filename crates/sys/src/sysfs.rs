//! The root of sysfs.

use std::path::{Path, PathBuf};

/// Where sysfs is mounted: `/sys`, or a copy of the same shape that describes another machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    fn default() -> Sysfs {
        Sysfs::at("/sys")
    }
}

impl Sysfs {
    /// The tree below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Sysfs {
        Sysfs { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file or folder, named from the root: `devices/system/cpu/online`.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }
}
