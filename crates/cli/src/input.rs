//! Opening a recording, and perf's words for one that cannot be opened.

mod forms;
mod progress;

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use oxperf_data::{DataError, Reader};
use oxperf_sys::files::is_trusted_owner;

use crate::failure::{Failure, code};
use crate::output::print_error;
use forms::Form;
use progress::ReadProgress;

const DEFAULT: &str = "perf.data";
const STDIN: &str = "-";

/// The recording that a command is to read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct InputOptions {
    /// The file, folder or FIFO that the user names; `-` is standard input.
    pub(crate) path: Option<String>,
    /// Recordings of other users are read.
    pub(crate) force: bool,
}

/// The recording that a command reads.
pub(crate) struct Input {
    path: PathBuf,
    form: Form,
    modified: i64,
    /// A walk over the records may show how far it is.
    shows_progress: bool,
}

/// O_NONBLOCK: opening a device that nobody serves must not wait.
const NON_BLOCKING: i32 = 0o4000;

impl Input {
    /// Opens the recording that the options name, else standard input if that is a pipe, else `perf.data`.
    pub(crate) fn new(options: &InputOptions) -> Result<Input, Failure> {
        let path = match &options.path {
            Some(path) => path,
            None if stdin_is_pipe() => STDIN,
            None => DEFAULT,
        };
        Input::open(path, options.force)
    }

    /// Opens the recording at `path`.
    pub(crate) fn open(path: &str, force: bool) -> Result<Input, Failure> {
        let path = PathBuf::from(path);
        if path == Path::new(STDIN) {
            return Input::from_stdin(path);
        }
        let failed = |error: std::io::Error| cannot_open(&path, &error);
        let kind = std::fs::metadata(&path).map_err(failed)?.file_type();
        if kind.is_dir() {
            return Input::open_file(&path.join("data"), &path, force);
        }
        if kind.is_fifo() {
            let stream = File::open(&path).map_err(failed)?;
            return Ok(Input {
                modified: 0,
                form: Form::piped(stream).map_err(failed)?,
                path,
                shows_progress: true,
            });
        }
        Input::open_file(&path, &path, force)
    }

    /// What stands on standard input, in any form that it can have.
    fn from_stdin(path: PathBuf) -> Result<Input, Failure> {
        let failed = |error: std::io::Error| cannot_open(&path, &error);
        let file = std::io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map(File::from)
            .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if file.is_terminal() {
            return Err(Failure::new(
                "standard input is a terminal: name a recording with -i",
            ));
        }
        let form = if metadata.is_file() {
            Form::image(file, &path)
        } else {
            Form::piped(file)
        };
        let form = form.map_err(failed)?;
        Ok(Input {
            form,
            modified: metadata.mtime(),
            path,
            shows_progress: true,
        })
    }

    /// Maps `file`, and what belongs to it when the recording at `path` is a directory.
    fn open_file(file: &Path, path: &Path, force: bool) -> Result<Input, Failure> {
        let failed = |error: std::io::Error| cannot_open(file, &error);
        let opened = File::options()
            .read(true)
            .custom_flags(NON_BLOCKING)
            .open(file)
            .map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        check_owner(file, metadata.uid(), force)?;
        if metadata.len() == 0 {
            return Err(empty(file, &opened));
        }
        let form = if file == path {
            Form::image(opened, path)
        } else {
            Form::directory(&opened, path)
        };
        let (form, modified) = (form.map_err(failed)?, metadata.mtime());
        Ok(Input {
            form,
            modified,
            path: path.to_path_buf(),
            shows_progress: true,
        })
    }

    /// Reads the header and what it points at; of a stream everything before its first sample. Refuses a file that was
    /// cut before its first sample.
    pub(crate) fn reader(&self) -> Result<Reader<'_>, Failure> {
        let reader = self.reader_of_any()?;
        reader.check_cut().map_err(|error| self.refuse(&error))?;
        Ok(reader)
    }

    /// As [`Input::reader`], also of a file in which no sample is left.
    pub(crate) fn reader_of_any(&self) -> Result<Reader<'_>, Failure> {
        let reader = self.form.reader().map_err(|error| self.refuse(&error))?;
        report_newer_attributes(&reader);
        Ok(reader)
    }

    /// The observer of a walk over the records; `writes_meanwhile` when text comes out while it goes on.
    pub(crate) fn progress(&self, writes_meanwhile: bool) -> ReadProgress<'_> {
        ReadProgress::new(&self.form, self.shows_progress, writes_meanwhile)
    }

    /// How many bytes it has; 0 of one that comes through a pipe.
    pub(crate) fn size(&self) -> u64 {
        self.form.sizes().iter().sum()
    }

    /// The same recording, read beside another one, which tells how far it is.
    pub(crate) fn without_progress(self) -> Input {
        Input {
            shows_progress: false,
            ..self
        }
    }

    /// Seconds since 1970 of the file's last change: what perf calls the time of capture.
    pub(crate) fn modified(&self) -> i64 {
        self.modified
    }

    /// The file, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether `path` is the recording or a file of it.
    pub(crate) fn is_read_from(&self, path: &Path) -> bool {
        let identity = |path: &Path| {
            std::fs::metadata(path)
                .ok()
                .map(|found| (found.dev(), found.ino()))
        };
        let Some(recording) = identity(&self.path) else {
            return false;
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        identity(path) == Some(recording)
            || identity(folder.unwrap_or(Path::new("."))) == Some(recording)
    }

    /// What to tell about a file that cannot be read.
    pub(crate) fn refuse(&self, error: &DataError) -> Failure {
        let path = self.path.display();
        let hint = match error {
            DataError::NotPerfData { .. } | DataError::HeaderCut { .. } => {
                return Failure::new(format!("incompatible file format\n{path}: {error}"));
            }
            DataError::Directory => "This is a file of a recorded directory: name the directory.",
            _ => "Was the recording copied or cut? Record it again.",
        };
        Failure::new(format!("{path}: {}\n{hint}", chain(error)))
    }
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Failure {
    if error.kind() == ErrorKind::OutOfMemory {
        let path = path.display();
        return Failure::with_code(
            format!("out of memory: {path} cannot be mapped\nAllow more memory (ulimit -v)."),
            code::OUT_OF_MEMORY,
        );
    }
    let reason = match error.kind() {
        ErrorKind::NotFound => "No such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => error.to_string(),
    };
    let hint = match (error.kind(), path == Path::new(DEFAULT)) {
        (ErrorKind::NotFound, true) => "  (try 'perf record' first)",
        _ => "",
    };
    Failure::new(format!("failed to open {}: {reason}{hint}", path.display()))
}

/// Tells that attributes are of a newer kernel interface than this program knows.
fn report_newer_attributes(reader: &Reader<'_>) {
    let unknown = reader
        .events()
        .iter()
        .map(|event| event.stored.extra.len())
        .max()
        .unwrap_or(0);
    if unknown > 0 {
        print_error(&format!(
            "Warning: the recorder is newer than this program: {unknown} bytes of the events' attributes are not understood"
        ));
    }
}

/// Whether a recording may come through standard input.
fn stdin_is_pipe() -> bool {
    let file = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(File::from);
    file.and_then(|file| file.metadata())
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// Files like those below /proc say that they are empty and are not: only a real end is one.
fn empty(path: &Path, mut file: &File) -> Failure {
    let readable = matches!(file.read(&mut [0]), Ok(1));
    let path = path.display();
    if readable {
        return Failure::new(format!("{path} is not a regular file: copy it first"));
    }
    Failure::new(format!("zero-sized data ({path}), nothing to do!"))
}

fn check_owner(path: &Path, owner: u32, force: bool) -> Result<(), Failure> {
    if force || is_trusted_owner(owner) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::new(format!(
        "File {path} not owned by current user or root (use -f to override)"
    )))
}
