//! The running system's PMUs.

use super::PmuSource;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// More bytes than most files of sysfs have, which are a line.
const LINE: usize = 256;

/// PMUs of a tree of sysfs, `bus/event_source/devices`.
#[derive(Clone, Debug)]
pub struct SystemPmus {
    root: PathBuf,
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
            present: sysfs.join("devices/system/cpu/present"),
            cpu_limit: OnceLock::new(),
        }
    }

    /// The path of a PMU's file; `None` for a name that would leave the directory.
    fn path(&self, pmu: &str, file: &str) -> Option<PathBuf> {
        let inside = |part: &str| !part.is_empty() && part != "." && part != "..";
        let whole = !pmu.contains('/') && inside(pmu) && file.split('/').all(inside);
        whole.then(|| {
            let names = pmu.len() + file.len() + "//".len();
            let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + names);
            path.extend([self.root.as_path(), pmu.as_ref(), file.as_ref()]);
            path
        })
    }

    fn read_cpu_limit(&self) -> Option<u32> {
        let list = fs::read_to_string(&self.present).ok()?;
        let last = list.trim().rsplit([',', '-']).next()?;
        last.parse::<u32>().ok()?.checked_add(1)
    }
}

impl PmuSource for SystemPmus {
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = entries(&self.root)?;
        names.sort();
        Ok(names)
    }

    fn read(&self, pmu: &str, file: &str) -> Option<String> {
        let mut text = contents(&self.path(pmu, file)?).ok()?;
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
        self.path(pmu, folder)
            .and_then(|path| entries(&path).ok())
            .unwrap_or_default()
    }
}

/// The text of a file. A line is read whole by one read, of sysfs as anywhere.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut line = [0; LINE];
    let mut file = fs::File::open(path)?;
    let length = file.read(&mut line)?;
    let mut text = line[..length].to_vec();
    if length == LINE {
        file.read_to_end(&mut text)?;
    }
    Ok(text)
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
