//! The output file: made new, with what was there before kept under another name.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use oxperf_sys::files::create_output;

/// Opens the file to record to, readable by its owner alone, for it holds addresses. A file that is there and not
/// empty is renamed to `NAME.old`, whatever was called so before. Files and links of other users are not written to: see
/// [`create_output`].
///
/// # Errors
/// The kernel's answer; also when the path names something that is no file.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(before) if !before.is_file() => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(before) if before.len() > 0 => fs::rename(path, old_name(path))?,
        _ => {}
    }
    create_output(path)
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
        assert!(create(Path::new("/dev/null")).is_err());
        fs::remove_dir_all(&directory).unwrap();
    }
}
