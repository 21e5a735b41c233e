//! A bundle as input: it is unpacked into a folder of its own, and the command reads what was in it.
//!
//! Every command that reads a recording takes a bundle so: its arguments are changed to name the recording in that folder,
//! with the files and kernel symbols beside it. [`crate::cmd`]'s `bundle` is the other side. The folder goes when the command
//! ends, and a process that outlives it sees to that where it is killed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use clap::Command;
use oxperf_sys::process::effective_user;
use oxperf_tar::{ArchiveReader, EntryKind, TarError};

use crate::environment;
use crate::failure::Failure;
use crate::output::print_error;
use crate::unpacking::Limits;

/// The command of the process that removes the folder of an unpacked bundle.
pub(crate) const KEEPER: &str = "bundle-keeper";
/// The first entry, which says what the archive is.
pub(crate) const MARK: &str = "oxperf-bundle";
/// Its contents.
pub(crate) const VERSION: &str = "1\n";
/// The recording.
pub(crate) const RECORDING: &str = "perf.data";
/// The kernel's list of symbols.
pub(crate) const KALLSYMS: &str = "kallsyms";
/// The folder of recorded files.
pub(crate) const ROOT: &str = "root";

/// The first bytes of a zstd stream.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The names of folders of unpacked bundles, before the number of the process.
const FOLDER: &str = "oxperf-bundle-";

/// A bundle that was unpacked; the folder vanishes with it.
#[derive(Debug)]
pub(crate) struct Unpacked {
    folder: PathBuf,
    /// The process that removes the folder if this process does not come to it; none where it cannot be started.
    keeper: Option<Child>,
}

impl Unpacked {
    /// Makes a folder. Its keeper is there before it, so that there is no moment in which a killed process leaves it behind.
    fn new() -> io::Result<Unpacked> {
        let base = std::env::temp_dir();
        for attempt in 0..100u32 {
            let folder = base.join(format!("{FOLDER}{}-{attempt}", std::process::id()));
            if fs::symlink_metadata(&folder).is_ok() {
                continue;
            }
            let keeper = keeper_of(&folder);
            match fs::DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok(Unpacked { folder, keeper }),
                Err(error) => dismiss(keeper, error)?,
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Starts the process that removes a folder when this process ends; none where it cannot be started.
fn keeper_of(folder: &Path) -> Option<Child> {
    let program = environment::program()?;
    let keeper = std::process::Command::new(program)
        // A program that has the name of a command runs that command alone.
        .arg0("oxperf")
        .arg(KEEPER)
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // What a terminal sends to its programs is not for it.
        .process_group(0)
        .spawn();
    keeper.ok()
}

/// Ends the keeper of a folder that could not be made: the folder is somebody else's. Any other error is passed on.
fn dismiss(keeper: Option<Child>, error: io::Error) -> io::Result<()> {
    if let Some(mut keeper) = keeper {
        let _ = keeper.kill();
        let _ = keeper.wait();
    }
    match error.kind() {
        io::ErrorKind::AlreadyExists => Ok(()),
        _ => Err(error),
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        remove(&self.folder);
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
        if fs::symlink_metadata(&self.folder).is_ok() {
            print_error(&format!("cannot remove {}", self.folder.display()));
        }
    }
}

/// Removes the folder of an unpacked bundle; nothing else.
pub(crate) fn remove(folder: &Path) {
    let is_named = folder
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(FOLDER.as_bytes()));
    let is_own = fs::symlink_metadata(folder)
        .is_ok_and(|data| data.is_dir() && data.uid() == effective_user());
    if is_named && is_own {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Changes the arguments of a command that is to read a bundle. `command` is the whole command line's definition.
pub(crate) fn open(
    arguments: Vec<OsString>,
    command: &Command,
) -> Result<(Vec<OsString>, Option<Unpacked>), Failure> {
    let called = arguments
        .iter()
        .skip(1)
        .fold(command, |at, word| at.find_subcommand(word).unwrap_or(at));
    let names = |name: &str| {
        called
            .get_arguments()
            .any(|argument| argument.get_id() == name)
    };
    // Where it is no recording to read (archive --unpack, an output), the argument stays.
    if !names("input") {
        return Ok((arguments, None));
    }
    let found = arguments
        .windows(2)
        .position(|pair| !is_value(called, &pair[0]) && is_bundle(&pair[1]));
    let Some(at) = found.map(|before| before + 1) else {
        return Ok((arguments, None));
    };
    let (takes_root, takes_kallsyms) = (names("symfs"), names("kallsyms"));
    let path = path_in(&arguments[at]);
    let unpacked =
        unpack(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let inside = |name: &str| unpacked.folder.join(name).into_os_string();
    let mut changed = arguments;
    changed[at] = with_path(&changed[at], &inside(RECORDING));
    let mut extra: Vec<OsString> = Vec::new();
    if takes_root {
        extra.extend(["--symfs".into(), inside(ROOT)]);
    }
    if takes_kallsyms && unpacked.folder.join(KALLSYMS).is_file() {
        extra.extend(["--kallsyms".into(), inside(KALLSYMS)]);
    }
    let end = changed
        .iter()
        .position(|word| word == "--")
        .unwrap_or(changed.len());
    changed.splice(end..end, extra);
    Ok((changed, Some(unpacked)))
}

/// `true` if the word behind `word` is the value of an option that names no input, such as an output.
fn is_value(command: &Command, word: &OsString) -> bool {
    let word = word.to_string_lossy();
    let option = command
        .get_arguments()
        .find(|option| match word.strip_prefix("--") {
            Some(long) => option.get_long() == Some(long),
            None => word
                .strip_prefix('-')
                .is_some_and(|short| short.chars().last() == option.get_short()),
        });
    option.is_some_and(|option| option.get_action().takes_values() && option.get_id() != "input")
}

/// The path in an argument: all of it, or what follows `-i` or `--input=`.
fn path_in(argument: &OsString) -> PathBuf {
    let text = argument.to_string_lossy();
    let path = text
        .strip_prefix("--input=")
        .or_else(|| text.strip_prefix("-i"))
        .filter(|path| !path.is_empty());
    path.map_or_else(|| PathBuf::from(argument), PathBuf::from)
}

fn with_path(argument: &OsString, path: &OsString) -> OsString {
    let text = argument.to_string_lossy();
    let option = ["--input=", "-i"]
        .into_iter()
        .find(|option| text.starts_with(option));
    let mut changed = OsString::from(option.unwrap_or_default());
    changed.push(path);
    changed
}

/// `true` if an argument names a bundle.
fn is_bundle(argument: &OsString) -> bool {
    let path = path_in(argument);
    if !fs::metadata(&path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let Ok(mut file) = File::open(&path) else {
        return false;
    };
    let mut head = [0; 4];
    if file.read_exact(&mut head).is_err() || head != ZSTD {
        return false;
    }
    let Ok(file) = File::open(&path) else {
        return false;
    };
    let Ok(decoder) = zstd::Decoder::new(file) else {
        return false;
    };
    ArchiveReader::new(decoder)
        .next_entry()
        .ok()
        .flatten()
        .is_some_and(|entry| entry.path == Path::new(MARK))
}

fn unpack(path: &Path) -> Result<Unpacked, TarError> {
    let unpacked = Unpacked::new()?;
    let limits = Limits::default();
    let mut reader =
        ArchiveReader::new(limits.unpacked(zstd::Decoder::new(limits.packed(File::open(path)?))?));
    while let Some(entry) = reader.next_entry()? {
        limits.entry()?;
        // Files alone are made, each below the new folder, in which there is no link.
        let EntryKind::File { .. } = entry.kind else {
            continue;
        };
        let target = unpacked.folder.join(&entry.path);
        fs::create_dir_all(target.parent().unwrap_or(&unpacked.folder))?;
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&target)?;
        let mut file = BufWriter::new(file);
        io::copy(&mut reader.contents(), &mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let modified = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(entry.modified));
        modified.map_or(Ok(()), |time| file.set_modified(time))?;
    }
    fs::create_dir_all(unpacked.folder.join(ROOT))?;
    Ok(unpacked)
}
