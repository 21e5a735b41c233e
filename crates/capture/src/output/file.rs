//! The output file, or the directory of them: made new, with what was there before kept under another name once something
//! is recorded.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};

use oxperf_data::directory::{self, DATA_NAME, KERNEL_COPY_NAME};
use oxperf_objects::{KERNEL_COPY_FILES, copy_kernel};
use oxperf_sys::files::create_output;

/// Opens the file to record to, readable by its owner alone, for it holds addresses. Where a file is there and not empty,
/// the new one has a name of its own until [`Claim::settle`] says that something is recorded. Files and links of other
/// users are not written to: see [`create_output`]. A character device such as `/dev/null` is written to as it is.
///
/// # Errors
/// The kernel's answer; also when the path names something that is no file.
pub(crate) fn create(path: &Path) -> io::Result<(File, Claim)> {
    let unsettled = match fs::metadata(path) {
        Ok(before) if before.file_type().is_char_device() => None,
        Ok(before) if before.is_dir() && is_recording(path) => Some(Unsettled::beside(path)),
        Ok(before) if !before.is_file() => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(before) if before.len() > 0 => Some(Unsettled::beside(path)),
        _ if path.is_symlink() => None,
        _ => Some(Unsettled::New(path.to_owned())),
    };
    let made = match &unsettled {
        Some(Unsettled::Beside { temporary, .. }) => temporary,
        Some(Unsettled::New(_)) | None => path,
    };
    Ok((create_output(made)?, Claim(unsettled)))
}

/// Makes the directory to record to, which its owner alone may enter, and the file with the header in it. As [`create`]
/// otherwise: a file or another recording that is there keeps its name until [`Claim::settle`].
///
/// # Errors
/// The kernel's answer; also when the path names something that is neither a file nor a recording.
pub(crate) fn create_directory(path: &Path) -> io::Result<(File, Claim)> {
    let unsettled = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Unsettled::New(path.to_owned()),
        Err(error) => return Err(error),
        Ok(before) if before.is_file() && before.len() == 0 => {
            fs::remove_file(path)?;
            Unsettled::New(path.to_owned())
        }
        Ok(before) if before.is_file() || is_recording(path) => Unsettled::beside(path),
        Ok(_) => {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "neither a file nor a recording",
            ));
        }
    };
    let made = unsettled.made();
    if let Unsettled::Beside { .. } = unsettled
        && made.is_dir()
    {
        // Left behind by a recorder of the same number that was killed.
        remove_recording(made)?;
    }
    DirBuilder::new().mode(0o700).create(made)?;
    let data = create_output(&made.join(DATA_NAME));
    let claim = Claim(Some(unsettled));
    Ok((data?, claim))
}

/// Returns whether a path is a directory that was recorded to.
fn is_recording(path: &Path) -> bool {
    path.join(DATA_NAME).is_file()
}

/// Removes a recording that is a directory.
///
/// # Errors
/// The kernel's answer; also when there is anything else in it, and then all of it stays.
fn remove_recording(path: &Path) -> io::Result<()> {
    let copy = path.join(KERNEL_COPY_NAME);
    // What a link leads to is not of the recording.
    let has_copy = fs::symlink_metadata(&copy).is_ok_and(|found| found.is_dir());
    let files = entries_of(path, |name| {
        name == DATA_NAME
            || directory::part_index(name).is_some()
            || has_copy && name == KERNEL_COPY_NAME
    })?;
    let copied = match has_copy {
        true => entries_of(&copy, |name| KERNEL_COPY_FILES.contains(&name))?,
        false => Vec::new(),
    };
    copied.iter().try_for_each(fs::remove_file)?;
    if has_copy {
        fs::remove_dir(&copy)?;
    }
    let files = files.iter().filter(|file| !has_copy || **file != copy);
    files.into_iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(path)
}

/// The paths of all entries of a folder.
///
/// # Errors
/// The kernel's answer; also when one is none of what a recorder writes.
fn entries_of(folder: &Path, is_recorded: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let check = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let name = entry.file_name();
        if is_recorded(&name.to_string_lossy()) {
            return Ok(entry.path());
        }
        let text = format!(
            "{} holds a file that no recorder wrote ({}): move it away",
            folder.display(),
            name.display()
        );
        Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, text))
    };
    fs::read_dir(folder)?.map(check).collect()
}

/// The name of an output. Until it is settled, dropping it removes the output: nothing was recorded.
#[derive(Debug)]
pub(crate) struct Claim(Option<Unsettled>);

/// A file or directory that may yet have to go.
#[derive(Debug)]
enum Unsettled {
    /// There was nothing of that name.
    New(PathBuf),
    /// There is a file of that name; it goes by `NAME.old` from then on, whatever was called so before.
    Beside {
        /// The name of the output until then.
        temporary: PathBuf,
        /// Its name from then on.
        path: PathBuf,
    },
}

impl Unsettled {
    /// An output that stands beside what `path` names.
    fn beside(path: &Path) -> Unsettled {
        Unsettled::Beside {
            temporary: with_suffix(path, &format!(".new-{}", std::process::id())),
            path: path.to_owned(),
        }
    }

    /// The name of the output as it is now.
    fn made(&self) -> &Path {
        let (Unsettled::New(made)
        | Unsettled::Beside {
            temporary: made, ..
        }) = self;
        made
    }
}

impl Claim {
    /// Makes one more file of an output that is a directory, before it is settled.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn create_part(&self, index: usize) -> io::Result<File> {
        create_output(&self.folder()?.join(directory::part_name(index)))
    }

    /// Copies the kernel's code and lists into an output that is a directory, before it is settled.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub(crate) fn copy_kernel(&self, source: &Path) -> io::Result<()> {
        copy_kernel(source, &self.folder()?.join(KERNEL_COPY_NAME))
    }

    fn folder(&self) -> io::Result<&Path> {
        let folder = self.0.as_ref().map(Unsettled::made);
        Ok(folder.ok_or(io::ErrorKind::NotADirectory)?)
    }

    /// Gives the output its name for good.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if let Some(Unsettled::Beside { temporary, path }) = &self.0 {
            // The file before it in a series has another name by now.
            if path.symlink_metadata().is_ok() {
                keep_old(path)?;
            }
            fs::rename(temporary, path)?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(unsettled) = &self.0 {
            let made = unsettled.made();
            // It is in nobody's way.
            let _ = if made.is_dir() {
                remove_recording(made)
            } else {
                fs::remove_file(made)
            };
        }
    }
}

/// Renames what was recorded before to `NAME.old`, in place of what was called so.
fn keep_old(path: &Path) -> io::Result<()> {
    let old = with_suffix(path, ".old");
    match fs::symlink_metadata(&old) {
        Ok(older) if older.is_dir() => remove_recording(&old)?,
        // A directory takes no file's place.
        Ok(_) if path.is_dir() => fs::remove_file(&old)?,
        _ => {}
    }
    fs::rename(path, old)
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("oxperf-output-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn files_and_directories_take_each_others_places() {
        let folder = folder("directories");
        let path = folder.join("perf.data");
        let old = with_suffix(&path, ".old");
        let make_directory = || {
            let (data, mut claim) = create_directory(&path).unwrap();
            claim.create_part(0).unwrap();
            claim.settle().unwrap();
            data
        };
        fs::write(&path, "one").unwrap();
        make_directory();
        assert_eq!(fs::read_to_string(&old).unwrap(), "one");
        let names = |path: &Path| {
            let entries = fs::read_dir(path).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&path), ["data", "data.0"]);
        make_directory();
        make_directory();
        assert_eq!(names(&old), ["data", "data.0"]);
        drop(create_directory(&path).unwrap());
        assert_eq!(names(&folder), ["perf.data", "perf.data.old"]);
        make(&path);
        assert!(path.is_file() && old.is_dir());
        // What is no recording is nobody's to remove.
        let other = folder.join("other");
        fs::create_dir(&other).unwrap();
        assert!(create_directory(&other).is_err() && create(&other).is_err());
        fs::write(old.join("mine"), "").unwrap();
        fs::write(&path, "two").unwrap();
        let (_, mut claim) = create(&path).unwrap();
        assert!(claim.settle().is_err());
        assert_eq!(names(&old), ["data", "data.0", "mine"]);
        drop(claim);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_copy_of_the_kernel_goes_with_its_recording() {
        let folder = folder("kernel");
        let path = folder.join("perf.data");
        let old = with_suffix(&path, ".old");
        let make_with_copy = || {
            let (_, mut claim) = create_directory(&path).unwrap();
            claim.settle().unwrap();
            let copy = path.join(KERNEL_COPY_NAME);
            fs::create_dir(&copy).unwrap();
            for name in KERNEL_COPY_FILES {
                fs::write(copy.join(name), "").unwrap();
            }
        };
        make_with_copy();
        make_with_copy();
        make_with_copy();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        // What stands beside the copy is nobody's to remove.
        let other = old.join(KERNEL_COPY_NAME).join("mine");
        fs::write(&other, "").unwrap();
        let (_, mut claim) = create_directory(&path).unwrap();
        assert!(claim.settle().is_err());
        drop(claim);
        assert!(other.exists() && old.join(KERNEL_COPY_NAME).join("kcore").exists());
        // A link in its place is no copy, and what it leads to stays.
        let target = folder.join("target");
        fs::rename(old.join(KERNEL_COPY_NAME), &target).unwrap();
        std::os::unix::fs::symlink(&target, old.join(KERNEL_COPY_NAME)).unwrap();
        assert!(remove_recording(&old).is_err() && target.join("mine").exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    fn make(path: &Path) -> File {
        let (file, mut claim) = create(path).unwrap();
        claim.settle().unwrap();
        file
    }

    #[test]
    fn the_old_file_is_kept_and_an_empty_one_is_not() {
        let folder = folder("old");
        let path = folder.join("perf.data");
        let old = with_suffix(&path, ".old");
        fs::write(&path, "one").unwrap();
        make(&path);
        assert!(path.exists());
        assert_eq!(fs::read_to_string(&old).unwrap(), "one");
        make(&path);
        assert_eq!(fs::read_to_string(&old).unwrap(), "one");
        assert!(create(&folder).is_err());
        assert!(create(Path::new("/dev/null")).is_ok());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn nothing_is_lost_where_nothing_is_recorded() {
        let folder = folder("claimed");
        let path = folder.join("perf.data");
        let old = with_suffix(&path, ".old");
        drop(create(&path).unwrap());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        make(&path);
        assert!(path.exists());
        fs::write(&path, "two").unwrap();
        fs::write(&old, "one").unwrap();
        drop(create(&path).unwrap());
        let texts = [&path, &old].map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(texts, ["two", "one"]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }
}
