//! The recording that a command reads, and perf's words for one that cannot be opened.

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use oxperf_data::{DataError, Reader};
use oxperf_query::{ReadObserver, ReadReport, RecordingFile, RecordingOpenError};

use crate::failure::{Failure, code};
use crate::output::print_error;
use crate::progress::Progress;

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
pub struct Input {
    file: RecordingFile,
    /// A walk over the records may show how far it is.
    shows_progress: bool,
}

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
        let file = RecordingFile::open(Path::new(path), force).map_err(cannot_open)?;
        Ok(Input {
            file,
            shows_progress: true,
        })
    }

    /// Reads the header and the sections that it points at; of a stream everything before its first sample. Refuses a
    /// file that was cut before its first sample.
    ///
    /// # Errors
    /// It is no recording, or one that is damaged before its first sample.
    pub fn reader(&self) -> Result<Reader<'_>, Failure> {
        let reader = self.reader_of_any()?;
        reader.check_cut().map_err(|error| self.refuse(&error))?;
        Ok(reader)
    }

    /// As [`Input::reader`], also of a file in which no sample is left.
    pub(crate) fn reader_of_any(&self) -> Result<Reader<'_>, Failure> {
        let reader = self.file.reader().map_err(|error| self.refuse(&error))?;
        report_newer_attributes(&reader);
        Ok(reader)
    }

    /// The observer of a walk over the records; `writes_meanwhile` when text comes out while it goes on.
    pub(crate) fn progress(&self, writes_meanwhile: bool) -> ReadObserver<'_> {
        let line = if self.shows_progress {
            Progress::begin(self.file.size(), writes_meanwhile)
        } else {
            None
        };
        let report = line.map(|mut line| Box::new(move |bytes| line.reach(bytes)) as ReadReport);
        self.file.observer(report)
    }

    /// Its size in bytes; `None` of one that comes through a pipe.
    pub(crate) fn size(&self) -> Option<u64> {
        self.file.size()
    }

    /// This recording without progress: another one that is read beside it shows how far it is.
    pub(crate) fn without_progress(self) -> Input {
        Input {
            shows_progress: false,
            ..self
        }
    }

    /// Seconds since 1970 of the file's last change: what perf calls the time of capture.
    pub fn modified(&self) -> i64 {
        self.file.modified()
    }

    /// The file, for messages.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// `true` if `path` is the recording or a file of it.
    pub(crate) fn is_read_from(&self, path: &Path) -> bool {
        self.file.is_read_from(path)
    }

    /// The message about a file that cannot be read.
    pub(crate) fn refuse(&self, error: &DataError) -> Failure {
        let path = self.path().display();
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

fn cannot_open(error: RecordingOpenError) -> Failure {
    let RecordingOpenError::Unreadable { path, error: cause } = &error else {
        return Failure::new(error.to_string());
    };
    if cause.kind() == ErrorKind::OutOfMemory {
        let path = path.display();
        return Failure::with_code(
            format!("out of memory: {path} cannot be mapped\nAllow more memory (ulimit -v)."),
            code::OUT_OF_MEMORY,
        );
    }
    let hint = match (cause.kind(), path.as_path() == Path::new(DEFAULT)) {
        (ErrorKind::NotFound, true) => "  (try 'perf record' first)",
        _ => "",
    };
    Failure::new(format!("{error}{hint}"))
}

/// Warns that attributes are of a newer kernel interface than this program knows.
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

/// `true` if a recording may come through standard input.
fn stdin_is_pipe() -> bool {
    let file = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(File::from);
    file.and_then(|file| file.metadata())
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
}
