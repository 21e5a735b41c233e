//! A recording, open: a file, a directory, a FIFO or standard input.

mod form;
mod read_observer;

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use oxperf_data::{DataError, Reader};
use oxperf_sys::files::is_trusted_owner;

use form::Form;
pub use read_observer::{ReadObserver, ReadReport};

/// The reason why a recording cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum RecordingOpenError {
    /// It cannot be opened or mapped.
    #[error("failed to open {}: {}", path.display(), reason(error))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Standard input is asked for, and is a terminal.
    #[error("standard input is a terminal: name a recording with -i")]
    Terminal,
    /// It belongs to somebody else.
    #[error("File {} not owned by current user or root (use -f to override)", .0.display())]
    ForeignOwner(PathBuf),
    /// It says that it is empty and is not, like files below `/proc`.
    #[error("{} is not a regular file: copy it first", .0.display())]
    NotRegular(PathBuf),
    /// It is empty.
    #[error("zero-sized data ({}), nothing to do!", .0.display())]
    Empty(PathBuf),
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "No such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// The name of standard input.
const STDIN: &str = "-";

/// O_NONBLOCK: opening a device that nobody serves must not wait.
const NON_BLOCKING: i32 = 0o4000;

/// A recording, open.
pub struct RecordingFile {
    path: PathBuf,
    form: Form,
    modified: i64,
}

impl RecordingFile {
    /// Opens the recording at `path`; `-` is standard input. `force` reads one that belongs to somebody else.
    ///
    /// # Errors
    /// It cannot be opened, or should not be.
    pub fn open(path: &Path, force: bool) -> Result<RecordingFile, RecordingOpenError> {
        let path = path.to_path_buf();
        if path == Path::new(STDIN) {
            return RecordingFile::from_stdin(path);
        }
        let failed = |error| unreadable(&path, error);
        let kind = std::fs::metadata(&path).map_err(failed)?.file_type();
        if kind.is_dir() {
            return RecordingFile::open_file(&path.join("data"), &path, force);
        }
        if kind.is_fifo() {
            let stream = File::open(&path).map_err(failed)?;
            return Ok(RecordingFile {
                modified: 0,
                form: Form::piped(stream).map_err(failed)?,
                path,
            });
        }
        RecordingFile::open_file(&path, &path, force)
    }

    /// Opens standard input, in any form that it can have.
    fn from_stdin(path: PathBuf) -> Result<RecordingFile, RecordingOpenError> {
        let failed = |error| unreadable(&path, error);
        let file = io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map(File::from)
            .map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if file.is_terminal() {
            return Err(RecordingOpenError::Terminal);
        }
        let form = if metadata.is_file() {
            Form::image(file, &path)
        } else {
            Form::piped(file)
        };
        let form = form.map_err(failed)?;
        Ok(RecordingFile {
            form,
            modified: metadata.mtime(),
            path,
        })
    }

    /// Maps `file`, and the others of it when the recording at `path` is a directory.
    fn open_file(
        file: &Path,
        path: &Path,
        force: bool,
    ) -> Result<RecordingFile, RecordingOpenError> {
        let failed = |error| unreadable(file, error);
        let opened = File::options()
            .read(true)
            .custom_flags(NON_BLOCKING)
            .open(file)
            .map_err(failed)?;
        let metadata = opened.metadata().map_err(failed)?;
        if !force && !is_trusted_owner(metadata.uid()) {
            return Err(RecordingOpenError::ForeignOwner(file.to_path_buf()));
        }
        if metadata.len() == 0 {
            return Err(empty(file, &opened));
        }
        let form = if file == path {
            Form::image(opened, path)
        } else {
            Form::directory(&opened, path)
        };
        let (form, modified) = (form.map_err(failed)?, metadata.mtime());
        Ok(RecordingFile {
            form,
            modified,
            path: path.to_path_buf(),
        })
    }

    /// Reads the header and the sections that it points at; of a stream everything before its first sample.
    ///
    /// # Errors
    /// It is no recording, or cannot be read.
    pub fn reader(&self) -> Result<Reader<'_>, DataError> {
        self.form.reader()
    }

    /// The observer of a walk over the records; `report` receives the bytes so far.
    pub fn observer(&self, report: Option<ReadReport>) -> ReadObserver<'_> {
        ReadObserver::new(&self.form, report)
    }

    /// Its size in bytes; `None` of one that comes through a pipe.
    pub fn size(&self) -> Option<u64> {
        let sizes = self.form.sizes();
        (!sizes.is_empty()).then(|| sizes.iter().sum())
    }

    /// Seconds since 1970 of the file's last change: what perf calls the time of capture.
    pub fn modified(&self) -> i64 {
        self.modified
    }

    /// The file or folder, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `true` if `path` is the recording or a file of it.
    pub fn is_read_from(&self, path: &Path) -> bool {
        let identity = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.dev(), found.ino()))
        };
        let Some(recording) = identity(&self.path) else {
            return false;
        };
        let folder = path.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        identity(path) == Some(recording)
            || identity(folder.unwrap_or(Path::new("."))) == Some(recording)
    }
}

fn unreadable(path: &Path, error: io::Error) -> RecordingOpenError {
    RecordingOpenError::Unreadable {
        path: path.to_path_buf(),
        error,
    }
}

/// Files like those below /proc say that they are empty and are not: only a real end is one.
fn empty(path: &Path, mut file: &File) -> RecordingOpenError {
    let readable = matches!(file.read(&mut [0]), Ok(1));
    let path = path.to_path_buf();
    if readable {
        RecordingOpenError::NotRegular(path)
    } else {
        RecordingOpenError::Empty(path)
    }
}
