//! Opening a recording, and perf's words for one that cannot be opened.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_data::{DataError, Reader};
use oxperf_session::Diagnostics;
use oxperf_sys::MappedFile;

use crate::failure::Failure;
use crate::output::print_error;

/// The options that say which recording to read.
pub(crate) fn arguments() -> Vec<Arg> {
    vec![
        Arg::new("input")
            .short('i')
            .long("input")
            .value_name("FILE")
            .default_value(DEFAULT)
            .help("Recording to read"),
        Arg::new("force")
            .short('f')
            .long("force")
            .action(ArgAction::SetTrue)
            .help("Read a recording that belongs to somebody else"),
    ]
}

const DEFAULT: &str = "perf.data";

/// The recording that a command reads.
pub(crate) struct Input {
    path: PathBuf,
    map: MappedFile,
    modified: i64,
}

/// O_NONBLOCK: opening a FIFO that nobody writes to must not wait.
const NON_BLOCKING: i32 = 0o4000;

impl Input {
    /// Maps the file that the options name.
    pub(crate) fn from_matches(matches: &ArgMatches) -> Result<Input, Failure> {
        Input::open(
            matches.get_one::<String>("input").map_or(DEFAULT, String::as_str),
            matches.get_flag("force"),
        )
    }

    /// Maps the file at `path`.
    pub(crate) fn open(path: &str, force: bool) -> Result<Input, Failure> {
        let path = PathBuf::from(path);
        let mut options = File::options();
        let file = options
            .read(true)
            .custom_flags(NON_BLOCKING)
            .open(&path)
            .map_err(|error| cannot_open(&path, &error))?;
        let metadata = file.metadata().map_err(|error| cannot_open(&path, &error))?;
        if metadata.file_type().is_fifo() {
            return Err(stream(&path));
        }
        if metadata.is_dir() {
            return Err(directory(&path));
        }
        check_owner(&path, metadata.uid(), force)?;
        if metadata.len() == 0 {
            return Err(empty(&path, &file));
        }
        let map = MappedFile::from_file(&file).map_err(|error| cannot_open(&path, &error))?;
        map.expect_sequential();
        Ok(Input { path, map, modified: metadata.mtime() })
    }

    /// Reads the header and what it points at.
    pub(crate) fn reader(&self) -> Result<Reader<'_>, Failure> {
        Reader::open(&self.map).map_err(|error| self.refuse(&error))
    }

    /// Seconds since 1970 of the file's last change: what perf calls the time of capture.
    pub(crate) fn modified(&self) -> i64 {
        self.modified
    }

    /// The file, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What to tell about a file that cannot be read.
    pub(crate) fn refuse(&self, error: &DataError) -> Failure {
        let path = self.path.display();
        let hint = match error {
            DataError::NotPerfData { .. } | DataError::HeaderCut { .. } | DataError::HeaderSize { .. } => {
                return Failure::new(format!("incompatible file format\n{path}: {error}"));
            }
            DataError::Pipe => "Streams of 'record -o -' cannot be read yet: record into a file.",
            DataError::Directory => "Recordings of 'record --threads' cannot be read yet: record without it.",
            DataError::Compressed => "Recordings of 'record -z' cannot be read yet: record without it.",
            DataError::Version1 => "Files of perf before 2010 cannot be read yet.",
            _ => "Was the recording copied or cut? Record it again.",
        };
        Failure::new(format!("{path}: {}\n{hint}", chain(error)))
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Failure {
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

fn stream(path: &Path) -> Failure {
    Failure::new(format!("{} is a pipe: streams cannot be read yet, record into a file", path.display()))
}

fn directory(path: &Path) -> Failure {
    let path = path.display();
    Failure::new(format!("{path} is a directory: recordings of 'record --threads' cannot be read yet"))
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
    let user = oxperf_sys::process::effective_user();
    if force || owner == 0 || owner == user {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::new(format!("File {path} not owned by current user or root (use -f to override)")))
}

/// Tells what was lost and broken, each kind once.
pub(crate) fn report_trouble(found: &Diagnostics) {
    for damage in &found.damage {
        print_error(&format!("Warning: {damage}"));
    }
    if found.lost_chunks > 0 {
        let (records, chunks) = (found.records, found.lost_chunks);
        print_error(&format!(
            "Warning:\nProcessed {records} events and lost {chunks} chunks!\n\nCheck IO/CPU overload!\n"
        ));
    }
    let counts = [
        (found.undecodable, "records could not be decoded"),
        (found.unknown_ids, "samples with id not present in the header"),
        (found.unknown_records, "records of unknown kinds were passed over"),
        (found.out_of_order, "out of order events recorded."),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        print_error(&format!("Warning:\n{count} {what}"));
    }
}
