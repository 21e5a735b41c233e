//! The place of a recording, and the contents of the file beside its records.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The place of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Destination {
    /// A file of this name; one that exists and is not empty is renamed to `.old`.
    File(PathBuf),
    /// Standard output, as a stream that can be read while it grows. What the workload prints goes to standard error.
    StandardOutput,
    /// A directory of this name; what exists is renamed as a file is.
    Directory(PathBuf, DirectoryRecords),
}

/// The files of a directory that hold the records of rings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectoryRecords {
    /// The file that holds all others, too.
    InOneFile,
    /// One for each ring.
    ByRing,
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::File(path) | Destination::Directory(path, _) => {
                write!(f, "{}", path.display())
            }
            Destination::StandardOutput => f.write_str("-"),
        }
    }
}

/// The binaries that the build-id table of the finished file lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildIdPolicy {
    /// No table.
    Off,
    /// Those with a sample, or a call chain entry, in them.
    Hit,
    /// All that were mapped executable.
    All,
}

/// What makes a recording go on in a new file, beside events that are watched for this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SwitchCause {
    /// `SIGUSR2`.
    Signal,
    /// The file has more than so many bytes.
    Size(u64),
    /// The file is so old.
    Time(Duration),
}

/// A recording in several files, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rotation {
    /// What begins the next file.
    pub cause: SwitchCause,
    /// The number of files that are kept, the newest; `None` for all.
    pub most_files: Option<usize>,
}

/// The output of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputOptions {
    /// The place of the recording.
    pub destination: Destination,
    /// The folder, `/proc`, with the kernel's code and lists (`kcore`, `kallsyms`, `modules`), which are copied into the
    /// directory; `None` for no copy.
    pub kernel_code: Option<PathBuf>,
    /// The recording has hardware traces. Which binaries they hit is known when they are decoded.
    pub has_traces: bool,
    /// The level at which records are compressed, from 1 to 22; `None` leaves them as they are.
    pub compression: Option<u32>,
    /// The build-id table.
    pub build_ids: BuildIdPolicy,
    /// Bytes that a ring holds before they are moved; what is left at the end is moved in any case.
    pub least_piece: usize,
    /// `true` if what existed before is described at the end of a file, as it is then, and not at its beginning.
    pub tail_synthesis: bool,
    /// The files that the recording is spread over; `None` for one.
    pub rotation: Option<Rotation>,
    /// `true` if the moment when a file was finished is part of its name, as it is of every file of several.
    pub timestamp_name: bool,
    /// Bytes of a file after which the recording ends.
    pub max_size: Option<u64>,
    /// The command line of this recording, program first, kept in the file's header.
    pub command_line: Vec<String>,
}

impl Default for OutputOptions {
    fn default() -> OutputOptions {
        OutputOptions {
            destination: Destination::File(PathBuf::from("perf.data")),
            kernel_code: None,
            has_traces: false,
            compression: None,
            build_ids: BuildIdPolicy::Hit,
            least_piece: 1,
            tail_synthesis: false,
            rotation: None,
            timestamp_name: false,
            max_size: None,
            command_line: Vec::new(),
        }
    }
}
