//! The running system's PMUs.

use super::PmuSource;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// PMUs under a directory, `bus/event_source/devices` of sysfs.
#[derive(Clone, Debug)]
pub struct SystemPmus {
    root: PathBuf,
}

impl Default for SystemPmus {
    fn default() -> SystemPmus {
        SystemPmus::below(Path::new("/sys"))
    }
}

impl SystemPmus {
    /// PMUs under another directory of the same shape, for example a copy from another machine.
    pub fn at(root: impl Into<PathBuf>) -> SystemPmus {
        SystemPmus { root: root.into() }
    }

    /// The PMUs below a root of sysfs: `/sys`, or a copy from another machine.
    pub fn below(sysfs: &Path) -> SystemPmus {
        SystemPmus::at(sysfs.join("bus/event_source/devices"))
    }

    /// The path of a PMU's file; `None` for a name that would leave the directory.
    fn path(&self, pmu: &str, file: &str) -> Option<PathBuf> {
        let inside = |part: &str| !part.is_empty() && part != "." && part != "..";
        let whole = !pmu.contains('/') && inside(pmu) && file.split('/').all(inside);
        whole.then(|| self.root.join(pmu).join(file))
    }
}

impl PmuSource for SystemPmus {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = entries(&self.root)?;
        names.sort();
        Ok(names)
    }

    fn read(&self, pmu: &str, file: &str) -> Option<String> {
        let bytes = fs::read(self.path(pmu, file)?).ok()?;
        Some(
            String::from_utf8_lossy(&bytes)
                .trim_end_matches('\n')
                .to_owned(),
        )
    }

    fn list(&self, pmu: &str, folder: &str) -> Vec<String> {
        self.path(pmu, folder)
            .and_then(|path| entries(&path).ok())
            .unwrap_or_default()
    }
}

/// The names in a directory, in its own order. Names that are no text cannot be written in an event text either.
fn entries(directory: &Path) -> io::Result<Vec<String>> {
    let names =
        fs::read_dir(directory)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_tree_and_stays_inside() {
        let root = std::env::temp_dir().join(format!("oxperf-pmus-{}", std::process::id()));
        fs::create_dir_all(root.join("cpu/format")).unwrap();
        fs::write(root.join("cpu/type"), "4\n").unwrap();
        fs::write(root.join("cpu/format/event"), "config:0-7\n").unwrap();
        let pmus = SystemPmus::at(&root);
        assert_eq!(pmus.names().unwrap(), ["cpu"]);
        assert_eq!(pmus.kind("cpu"), Some(4));
        assert_eq!(
            pmus.read("cpu", "format/event").as_deref(),
            Some("config:0-7")
        );
        assert_eq!(pmus.list("cpu", "format"), ["event"]);
        assert_eq!(pmus.list("cpu", "events"), [""; 0]);
        assert_eq!(pmus.read("cpu", "../cpu/type"), None);
        assert_eq!(pmus.read("..", "type"), None);
        fs::remove_dir_all(root).unwrap();
    }
}
