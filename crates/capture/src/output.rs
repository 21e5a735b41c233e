//! The output: a file made new, with what was there before kept under another name, or standard output.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Opens the file to record to, readable by its owner alone, for it holds addresses. A file that is there and not
/// empty is renamed to `NAME.old`, whatever was called so before.
///
/// # Errors
/// The kernel's answer; also when the path names something that is no file.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    if let Ok(before) = fs::metadata(path)
        && before.is_file()
        && before.len() > 0
    {
        fs::rename(path, old_name(path))?;
    }
    let file =
        OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}

/// Standard output, for bytes and not for text.
///
/// # Errors
/// It is closed, or a terminal.
pub(crate) fn standard() -> io::Result<File> {
    let output = io::stdout();
    if output.is_terminal() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a terminal takes no recording"));
    }
    output.as_fd().try_clone_to_owned().map(File::from)
}

fn old_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_is_kept_and_an_empty_one_is_not() {
        let directory = std::env::temp_dir().join(format!("oxperf-output-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("perf.data");
        fs::write(&path, "one").unwrap();
        create(&path).unwrap();
        assert_eq!(fs::read_to_string(old_name(&path)).unwrap(), "one");
        create(&path).unwrap();
        assert_eq!(fs::read_to_string(old_name(&path)).unwrap(), "one");
        assert!(create(&directory).is_err());
        fs::remove_dir_all(&directory).unwrap();
    }
}
