//! The output file: made new, with what was there before kept under another name once something is recorded.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

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
        Ok(before) if !before.is_file() => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(before) if before.len() > 0 => Some(Unsettled::Beside {
            temporary: with_suffix(path, &format!(".new-{}", std::process::id())),
            path: path.to_owned(),
        }),
        _ if path.is_symlink() => None,
        _ => Some(Unsettled::New(path.to_owned())),
    };
    let made = match &unsettled {
        Some(Unsettled::Beside { temporary, .. }) => temporary,
        Some(Unsettled::New(_)) | None => path,
    };
    Ok((create_output(made)?, Claim(unsettled)))
}

/// The name of an output. Until it is settled, dropping it removes the file: nothing was recorded.
#[derive(Debug)]
pub(crate) struct Claim(Option<Unsettled>);

/// A file that may yet have to go.
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

impl Claim {
    /// Gives the output its name for good.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if let Some(Unsettled::Beside { temporary, path }) = &self.0 {
            // The file before it in a series has another name by now.
            if path.symlink_metadata().is_ok() {
                fs::rename(path, with_suffix(path, ".old"))?;
            }
            fs::rename(temporary, path)?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(
            Unsettled::New(made)
            | Unsettled::Beside {
                temporary: made, ..
            },
        ) = &self.0
        {
            // It is in nobody's way.
            let _ = fs::remove_file(made);
        }
    }
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
