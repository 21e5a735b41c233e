//! The process directory: which tasks there are, what they are called, and what they have mapped.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use oxperf_abi::{Pid, Tid};

/// Bytes that are asked for at once where reading may take too long.
const MAPS_PIECE: usize = 1 << 16;

/// A directory laid out like `/proc`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcDir(PathBuf);

/// The fields of `/proc/PID/status` that describe a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskStatus {
    /// The task's name, as bytes.
    pub name: Vec<u8>,
    /// Its process.
    pub process: Pid,
    /// The process that it belongs to as a child.
    pub parent: Pid,
}

impl ProcDir {
    /// The directory at `path`.
    pub fn new(path: &Path) -> ProcDir {
        ProcDir(path.to_owned())
    }

    /// A file of the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// All processes, ascending.
    pub fn processes(&self) -> Vec<Pid> {
        numbers_in(&self.0).into_iter().map(Pid).collect()
    }

    /// The threads of a process, ascending; empty when it is gone.
    pub fn threads(&self, process: Pid) -> Vec<Tid> {
        numbers_in(&self.0.join(format!("{process}/task")))
            .into_iter()
            .map(Tid)
            .collect()
    }

    /// Name and family of a task; `None` when it is gone.
    pub fn status(&self, task: Tid) -> Option<TaskStatus> {
        TaskStatus::parse(&first_bytes(&self.0.join(format!("{task}/status"))).ok()?)
    }

    /// The given processes and their descendants, ascending.
    pub fn families(&self, roots: &[Pid]) -> Vec<Pid> {
        let processes = self.processes();
        let parent = |&process: &Pid| Some((process, self.status(Tid(process.0))?.parent));
        let parents: HashMap<Pid, Pid> = processes.iter().filter_map(parent).collect();
        let descends = |process: &Pid| {
            let line = std::iter::successors(Some(*process), |own| parents.get(own).copied());
            // Processes that come and go meanwhile may make a circle.
            let mut line = line.take(parents.len() + 1);
            line.any(|ancestor| roots.contains(&ancestor))
        };
        processes.into_iter().filter(descends).collect()
    }

    /// The text of a process's mappings, as far as the kernel tells it within `timeout`; `None` when it is gone.
    pub fn maps(&self, process: Pid, timeout: Option<Duration>) -> Option<Vec<u8>> {
        let path = self.0.join(format!("{process}/maps"));
        match timeout {
            Some(timeout) => read_for(File::open(path).ok()?, timeout).ok(),
            None => fs::read(path).ok(),
        }
    }

    /// `path` as the process sees it, from outside.
    pub fn inside_root(&self, process: Pid, path: &Path) -> PathBuf {
        let relative = path.strip_prefix("/").unwrap_or(path);
        self.0.join(format!("{process}/root")).join(relative)
    }

    /// The very file that a process has mapped at these addresses, whatever has become of its path. Opening it takes
    /// privileges.
    pub fn mapped_file(&self, process: Pid, addresses: Range<u64>) -> PathBuf {
        let Range { start, end } = addresses;
        self.0
            .join(format!("{process}/map_files/{start:x}-{end:x}"))
    }
}

/// The beginning of a small file, in one read: the kernel makes it anew for each, and a target may have thousands of threads.
fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4096];
    let mut file = File::open(path)?;
    let read = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    bytes.truncate(read);
    Ok(bytes)
}

/// Reads whole lines until the end or until the time is over; the kernel writes a page at most for each call.
fn read_for(mut file: impl Read, timeout: Duration) -> io::Result<Vec<u8>> {
    let begin = Instant::now();
    let mut text = Vec::new();
    while begin.elapsed() < timeout {
        let before = text.len();
        text.resize(before + MAPS_PIECE, 0);
        let read = file.read(&mut text[before..])?;
        text.truncate(before + read);
        if read == 0 {
            return Ok(text);
        }
    }
    let whole = text.iter().rposition(|byte| *byte == b'\n');
    text.truncate(whole.map_or(0, |end| end + 1));
    Ok(text)
}

fn numbers_in(directory: &Path) -> Vec<i32> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut numbers: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}

impl TaskStatus {
    fn parse(text: &[u8]) -> Option<TaskStatus> {
        let field = |name: &[u8]| {
            let line = text
                .split(|byte| *byte == b'\n')
                .find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_ascii_start())
        };
        let number = |name: &[u8]| {
            std::str::from_utf8(field(name)?)
                .ok()?
                .trim()
                .parse()
                .ok()
                .map(Pid)
        };
        Some(TaskStatus {
            name: field(b"Name:")?.to_vec(),
            process: number(b"Tgid:")?,
            parent: number(b"PPid:")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timeout of nothing reads nothing, a long one all, and what is read ends with a line.
    #[test]
    fn reading_ends_with_the_time() {
        struct Slow;
        impl Read for Slow {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let line = b"line\npart";
                buffer[..line.len()].copy_from_slice(line);
                Ok(line.len())
            }
        }
        let read = |timeout| read_for(Slow, Duration::from_millis(timeout)).unwrap();
        assert_eq!(read(0), b"");
        assert!(read(5).ends_with(b"line\n"));
        let all = read_for(&b"line\npart"[..], Duration::from_secs(60));
        assert_eq!(all.unwrap(), b"line\npart");
    }

    #[test]
    fn a_family_is_all_descendants() {
        let folder = std::env::temp_dir().join(format!("oxperf-family-{}", std::process::id()));
        for (process, parent) in [(1, 0), (7, 1), (8, 7), (9, 8), (10, 1), (11, 12), (12, 11)] {
            let own = folder.join(process.to_string());
            fs::create_dir_all(&own).unwrap();
            let text = format!("Name:\tx\nTgid:\t{process}\nPPid:\t{parent}\n");
            fs::write(own.join("status"), text).unwrap();
        }
        let proc = ProcDir::new(&folder);
        assert_eq!(proc.families(&[Pid(7)]), [Pid(7), Pid(8), Pid(9)]);
        assert_eq!(proc.families(&[Pid(12)]), [Pid(11), Pid(12)]);
        assert!(proc.families(&[Pid(99)]).is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn status_fields() {
        let text = b"Name:\tsome name\nUmask:\t0022\nTgid:\t7\nPid:\t9\nPPid:\t3\n";
        let status = TaskStatus {
            name: b"some name".to_vec(),
            process: Pid(7),
            parent: Pid(3),
        };
        assert_eq!(TaskStatus::parse(text), Some(status));
        assert_eq!(TaskStatus::parse(b"Name:\tcut\nTgid:\tx\n"), None);
        assert_eq!(TaskStatus::parse(b""), None);
    }
}
