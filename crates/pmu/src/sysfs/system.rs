//! The running system's PMUs.

use super::PmuSource;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// More bytes than most files of sysfs have, which are a line.
const LINE: usize = 256;

/// PMUs of a tree of sysfs, `bus/event_source/devices`.
#[derive(Clone, Debug)]
pub struct SystemPmus {
    root: PathBuf,
    /// The directory `root`, once it was opened: the way there costs as much as the rest of opening a file.
    devices: OnceLock<Option<Arc<OwnedFd>>>,
    /// The file that lists the CPUs that are there.
    present: PathBuf,
    /// What it says, once it was asked.
    cpu_limit: OnceLock<Option<u32>>,
}

impl Default for SystemPmus {
    fn default() -> SystemPmus {
        SystemPmus::below(Path::new("/sys"))
    }
}

impl SystemPmus {
    /// The PMUs below a root of sysfs: `/sys`, or a copy from another machine.
    pub fn below(sysfs: &Path) -> SystemPmus {
        SystemPmus {
            root: sysfs.join("bus/event_source/devices"),
            devices: OnceLock::new(),
            present: sysfs.join("devices/system/cpu/present"),
            cpu_limit: OnceLock::new(),
        }
    }

    fn devices(&self) -> Option<BorrowedFd<'_>> {
        let open = || open(CWD, &self.root, OFlags::DIRECTORY).ok().map(Arc::new);
        let devices = self.devices.get_or_init(open).as_ref();
        devices.map(|devices| devices.as_fd())
    }

    /// Opens a PMU's file or folder; `None` for a name that would leave the directory.
    fn open(&self, pmu: &str, file: &str, kind: OFlags) -> Option<OwnedFd> {
        let inside = |part: &str| !part.is_empty() && part != "." && part != "..";
        let whole = !pmu.contains('/') && inside(pmu) && file.split('/').all(inside);
        let path = whole.then(|| [pmu, file].join("/"))?;
        open(self.devices()?, Path::new(&path), kind).ok()
    }

    fn read_cpu_limit(&self) -> Option<u32> {
        let list = fs::read_to_string(&self.present).ok()?;
        let last = list.trim().rsplit([',', '-']).next()?;
        last.parse::<u32>().ok()?.checked_add(1)
    }
}

impl PmuSource for SystemPmus {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = entries(open(CWD, &self.root, OFlags::DIRECTORY)?)?;
        names.sort();
        Ok(names)
    }

    fn read(&self, pmu: &str, file: &str) -> Option<String> {
        let mut text = contents(self.open(pmu, file, OFlags::empty())?.into()).ok()?;
        // Copies of such files may be filled up to a page.
        if let Some(end) = text.iter().position(|byte| *byte == 0) {
            text.truncate(end);
        }
        while text.pop_if(|last| *last == b'\n').is_some() {}
        let lossy = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        Some(String::from_utf8(text).unwrap_or_else(|error| lossy(error.as_bytes())))
    }

    fn cpu_limit(&self) -> Option<u32> {
        *self.cpu_limit.get_or_init(|| self.read_cpu_limit())
    }

    fn list(&self, pmu: &str, folder: &str) -> Vec<String> {
        self.open(pmu, folder, OFlags::DIRECTORY)
            .and_then(|folder| entries(folder).ok())
            .unwrap_or_default()
    }
}

fn open(near: BorrowedFd<'_>, path: &Path, kind: OFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | kind;
    Ok(openat(near, path, flags, Mode::empty())?)
}

/// The text of a file. A line is read whole by one read, of sysfs as anywhere.
fn contents(mut file: File) -> io::Result<Vec<u8>> {
    let mut line = [0; LINE];
    let length = file.read(&mut line)?;
    let mut text = line[..length].to_vec();
    if length == LINE {
        file.read_to_end(&mut text)?;
    }
    Ok(text)
}

/// The names in a directory, in its own order. Names that are no text cannot be written in an event text either.
fn entries(directory: OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::new(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_str().ok();
        let own = name.filter(|name| ![".", ".."].contains(name));
        names.extend(own.map(str::to_owned));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_tree_and_stays_inside() {
        let root = std::env::temp_dir().join(format!("oxperf-pmus-{}", std::process::id()));
        let devices = root.join("bus/event_source/devices");
        let cpus = root.join("devices/system/cpu");
        fs::create_dir_all(devices.join("cpu/format")).unwrap();
        fs::create_dir_all(&cpus).unwrap();
        fs::write(devices.join("cpu/type"), "4\n").unwrap();
        fs::write(devices.join("cpu/format/event"), "config:0-7\n").unwrap();
        fs::write(cpus.join("present"), "0,2-5\n").unwrap();
        let pmus = SystemPmus::below(&root);
        assert_eq!(pmus.cpu_limit(), Some(6));
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
