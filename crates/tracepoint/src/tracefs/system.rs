//! The tracefs of the machine this program runs on. Nothing is mounted here: what is missing is reported.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

use super::Tracefs;
use crate::error::TracepointError;

/// The directories where kernels show their tracepoints.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Bytes that one read may give; the kernel gives a page of most files, and the whole of one that it gives once.
const ROOM: usize = 1 << 13;

/// A mounted tracefs.
#[derive(Clone, Debug)]
pub struct SystemTracefs {
    root: PathBuf,
}

impl SystemTracefs {
    /// The machine's tracefs, on its own or within debugfs.
    ///
    /// # Errors
    /// It is not mounted
    pub fn find() -> Result<SystemTracefs, TracepointError> {
        let mut refusal = None;
        for place in PLACES {
            match SystemTracefs::at(place) {
                Ok(tracefs) => return Ok(tracefs),
                Err(error @ TracepointError::Read { .. }) => refusal = refusal.or(Some(error)),
                Err(_) => {}
            }
        }
        Err(refusal.unwrap_or_else(|| TracepointError::NoTracefs(PathBuf::from(PLACES[0]))))
    }

    /// The tracefs in the directory `root`.
    ///
    /// # Errors
    /// The directory has no `events`, or it may not be read.
    pub fn at(root: impl Into<PathBuf>) -> Result<SystemTracefs, TracepointError> {
        let root = root.into();
        let events = root.join("events");
        match fs::read_dir(&events) {
            Ok(_) => Ok(SystemTracefs { root }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(TracepointError::NoTracefs(root))
            }
            Err(error) => Err(TracepointError::Read {
                path: events,
                error,
            }),
        }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of a system.
    fn system(&self, name: &str) -> Result<PathBuf, TracepointError> {
        if is_name(name) {
            Ok(self.root.join("events").join(name))
        } else {
            Err(TracepointError::Unknown {
                system: name.to_owned(),
                event: "*".to_owned(),
            })
        }
    }

    fn event_file(
        &self,
        system: &str,
        event: &str,
        file: &str,
    ) -> Result<Vec<u8>, TracepointError> {
        let unknown = || TracepointError::Unknown {
            system: system.to_owned(),
            event: event.to_owned(),
        };
        if !is_name(system) || !is_name(event) {
            return Err(unknown());
        }
        match read(self.root.join("events").join(system).join(event).join(file)) {
            Err(TracepointError::Read { error, .. }) if error.kind() == ErrorKind::NotFound => {
                Err(unknown())
            }
            other => other,
        }
    }
}

/// Returns whether `name` is one step of a path below the current one.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains('/')
}

/// The `format` file of an event in the directory of its system.
fn format_in(folder: BorrowedFd<'_>, event: &str, room: &mut [u8; ROOM]) -> io::Result<Vec<u8>> {
    let path = [event, "format"].join("/");
    let file = openat(
        folder,
        &path,
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut file = fs::File::from(file);
    let first = file.read(room)?;
    let mut text = room[..first].to_vec();
    // The print format comes last, in one piece: who has it need not ask for more, which costs a lock of the kernel.
    if first == ROOM || !is_whole(&text) {
        read_rest(&mut file, &mut text, room)?;
    }
    Ok(text)
}

/// Returns whether the text of a `format` file has its last line.
fn is_whole(text: &[u8]) -> bool {
    let Some(lines) = text.strip_suffix(b"\n") else {
        return false;
    };
    let before = lines.iter().rposition(|byte| *byte == b'\n');
    let last = &lines[before.map_or(0, |newline| newline + 1)..];
    last.starts_with(b"print fmt: ")
}

fn read(path: PathBuf) -> Result<Vec<u8>, TracepointError> {
    match fs::File::open(&path).and_then(|mut file| read_text(&mut file)) {
        Ok(text) => Ok(text),
        Err(error) => Err(TracepointError::Read { path, error }),
    }
}

/// Reads to the end. The kernel gives some of these files (`header_page`) to the first read only, and tells a size of 0
/// for all of them, so nobody asks for the size, and there is room for the whole from the start.
fn read_text(source: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    read_rest(source, &mut text, &mut [0; ROOM])?;
    Ok(text)
}

/// Appends what is left of a file.
fn read_rest(source: &mut dyn Read, text: &mut Vec<u8>, room: &mut [u8; ROOM]) -> io::Result<()> {
    loop {
        match source.read(room) {
            Ok(0) => return Ok(()),
            Ok(count) => text.extend_from_slice(&room[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The names of the directories in `path`, sorted.
fn all_directories(path: &Path) -> Result<Vec<String>, TracepointError> {
    let failed = |error| TracepointError::Read {
        path: path.to_owned(),
        error,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    names.sort();
    Ok(names)
}

/// The names of the directories in `path` that have a file or directory `inside`, sorted.
fn directories(path: &Path, inside: &str) -> Result<Vec<String>, TracepointError> {
    let mut names = all_directories(path)?;
    names.retain(|name| path.join(name).join(inside).exists());
    Ok(names)
}

impl Tracefs for SystemTracefs {
    fn systems(&self) -> Result<Vec<String>, TracepointError> {
        directories(&self.root.join("events"), "enable")
    }

    fn events(&self, system: &str) -> Result<Vec<String>, TracepointError> {
        directories(&self.system(system)?, "id")
    }

    fn described_systems(&self) -> Result<Vec<String>, TracepointError> {
        all_directories(&self.root.join("events"))
    }

    fn described_events(&self, system: &str) -> Result<Vec<String>, TracepointError> {
        all_directories(&self.system(system)?)
    }

    fn id(&self, system: &str, event: &str) -> Result<u64, TracepointError> {
        let text = self.event_file(system, event, "id")?;
        let text = String::from_utf8_lossy(&text);
        text.trim()
            .parse()
            .map_err(|_| TracepointError::Heading { line: "ID:" })
    }

    fn format(&self, system: &str, event: &str) -> Result<Vec<u8>, TracepointError> {
        self.event_file(system, event, "format")
    }

    /// The paths are those within the directory of the system: the way there costs as much as the rest of opening a file.
    fn formats(&self, system: &str, events: &[&str]) -> Vec<Result<Vec<u8>, TracepointError>> {
        let folder = self.system(system).ok();
        let folder = folder.and_then(|path| fs::File::open(path).ok());
        let mut room = [0; ROOM];
        let format = |event: &&str| {
            let near = folder.as_ref().filter(|_| is_name(event));
            let text = near.and_then(|folder| format_in(folder.as_fd(), event, &mut room).ok());
            // What cannot be read says why by its whole path.
            text.map_or_else(|| self.format(system, event), Ok)
        };
        events.iter().map(format).collect()
    }

    fn header_page(&self) -> Result<Vec<u8>, TracepointError> {
        read(self.root.join("events/header_page"))
    }

    fn header_event(&self) -> Result<Vec<u8>, TracepointError> {
        read(self.root.join("events/header_event"))
    }

    fn printk_formats(&self) -> Result<Vec<u8>, TracepointError> {
        read(self.root.join("printk_formats"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_events_is_no_tracefs() {
        let error = SystemTracefs::at("/proc/self").expect_err("not a tracefs");
        assert!(matches!(error, TracepointError::NoTracefs(_)), "{error}");
    }

    #[test]
    #[allow(clippy::print_stderr)]
    fn the_machines_own_tracefs_lists_its_events() {
        let tracefs = match SystemTracefs::find() {
            Ok(tracefs) => tracefs,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let events = tracefs.events("sched").expect("the scheduler's events");
        assert!(
            events.iter().any(|event| event == "sched_switch"),
            "{events:?}"
        );
        let systems = tracefs.described_systems().expect("all systems");
        assert!(systems.contains(&"ftrace".to_owned()), "{systems:?}");
        let events = tracefs.described_events("ftrace").expect("ftrace's own");
        assert!(events.contains(&"print".to_owned()), "{events:?}");
        let format = tracefs.format("sched", "sched_switch").expect("a format");
        let format = crate::EventFormat::parse(&format).expect("parses");
        assert_eq!(
            format.id,
            tracefs.id("sched", "sched_switch").expect("an id")
        );
        assert!(tracefs.format("sched", "../sched/sched_switch").is_err());
        let page = tracefs.header_page().expect("a header");
        assert!(
            page.ends_with(b";\n"),
            "the header is cut: {}",
            String::from_utf8_lossy(&page)
        );
    }
}
