//! One run of the program with a call that fails, in a folder of its own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::cases::Case;
use crate::preload::{Built, Fault, State};

/// A run that takes longer hangs: each of them does milliseconds of work.
const PATIENCE: Duration = Duration::from_secs(60);

/// End of a run, and what it left.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) hung: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// Every file below the folder that was not there before, by its path there; without caches.
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
    /// Inputs that changed.
    pub(crate) changed: Vec<PathBuf>,
    pub(crate) state: State,
}

impl Ended {
    /// Returns true if a signal ended it, or a panic.
    pub(crate) fn crashed(&self) -> bool {
        self.status.signal().is_some()
            || self.status.code() == Some(101)
            || self.stderr.contains("panicked at")
    }

    /// The lines on standard error that another run did not write; how much was recorded is different each time.
    pub(crate) fn messages_beside<'a>(&'a self, other: &Ended) -> Vec<&'a str> {
        let told = |line: &&str| {
            line.is_empty()
                || line.starts_with("[ oxperf record: ")
                || other.stderr.lines().any(|known| known == *line)
        };
        self.stderr.lines().filter(|line| !told(line)).collect()
    }
}

/// The inputs of all runs and the folder below which each gets its own.
pub(crate) struct Stage {
    pub(crate) folder: PathBuf,
    pub(crate) built: Built,
    /// Files that lie in the folder of every run.
    pub(crate) inputs: Vec<(&'static str, Vec<u8>)>,
}

/// A folder of one run, removed with it.
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Stage {
    /// A new folder with the inputs and an empty home.
    pub(crate) fn place(&self) -> Place {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let folder = self
            .folder
            .join(format!("run-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let _ = fs::remove_dir_all(&folder);
        for part in ["home", "tmp", "work"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        for (name, bytes) in &self.inputs {
            let file = File::create(folder.join("work").join(name)).unwrap();
            (&file).write_all(bytes).unwrap();
            // Some outputs show it.
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000))
                .unwrap();
        }
        Place { folder }
    }

    /// Runs a case once, with a call that fails or without, in a place that may have been used before.
    pub(crate) fn run(&self, case: &Case, fault: Option<Fault>, place: &Place) -> Ended {
        let state = place.folder.join("state");
        State::prepare(&state);
        let mut command = self.command(case, fault, place, &state);
        let (status, hung) = wait(command.spawn().unwrap());
        let read = |name| fs::read(place.folder.join(name)).unwrap();
        let mut files = BTreeMap::new();
        for part in ["work", "tmp", "home"] {
            collect(&place.folder, &place.folder.join(part), &mut files);
        }
        let mut changed = Vec::new();
        for (name, bytes) in &self.inputs {
            let path = Path::new("work").join(name);
            if files.remove(&path).as_ref() != Some(bytes) {
                changed.push(path);
            }
        }
        Ended {
            status,
            hung,
            stdout: read("stdout"),
            stderr: String::from_utf8_lossy(&read("stderr")).into_owned(),
            files,
            changed,
            state: State::read(&state),
        }
    }

    /// Reads a recording with all that says what ran, and nothing that fails.
    pub(crate) fn script(&self, place: &Place, recording: &[u8]) -> Output {
        let file = place.folder.join("read.data");
        fs::write(&file, recording).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
        command
            .args(["script", "--show-task-events", "--show-mmap-events", "-i"])
            .arg(&file);
        command
            .env("HOME", place.folder.join("home"))
            .output()
            .unwrap()
    }

    fn command(&self, case: &Case, fault: Option<Fault>, place: &Place, state: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
        let create = |name| File::create(place.folder.join(name)).unwrap();
        command
            .args(case.words(&self.folder))
            .current_dir(place.folder.join("work"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LC_ALL", "C");
        command
            .env("HOME", place.folder.join("home"))
            .env("TMPDIR", place.folder.join("tmp"));
        command
            .env("LD_PRELOAD", &self.built.library)
            .env("FAULT_STATE", state)
            .env("FAULT_PROGRAM", "oxperf");
        if let Some(fault) = fault {
            command
                .env("FAULT_KIND", fault.kind)
                .env("FAULT_AT", fault.at.to_string());
            command.env("FAULT_ERRNO", fault.errno.to_string());
            if fault.forever {
                command.env("FAULT_FOREVER", "1");
            }
        }
        command
            .stdin(Stdio::null())
            .stdout(create("stdout"))
            .stderr(create("stderr"));
        command
    }
}

/// Waits for a child, and ends one that hangs.
fn wait(mut child: Child) -> (ExitStatus, bool) {
    let start = Instant::now();
    loop {
        match child.try_wait().unwrap() {
            Some(status) => return (status, false),
            None if start.elapsed() > PATIENCE => {
                child.kill().unwrap();
                return (child.wait().unwrap(), true);
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// The regular files below a folder, except those of the cache of what was learned, whose effect is tested instead.
fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    // What a bundle was unpacked to is removed by another process where the program could not: it may vanish meanwhile.
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        if found.is_dir() && !path.ends_with("home/.cache") {
            collect(root, &path, files);
        } else if found.is_file()
            && let Ok(bytes) = fs::read(&path)
        {
            files.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
        }
    }
}
