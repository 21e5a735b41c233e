//! The names of files that are told apart by the moment when they were finished.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oxperf_sys::clock::LocalTime;

use super::file::with_suffix;

/// The step of the clock in names.
const STEP: Duration = Duration::from_millis(10);
/// Names that are tried before a file keeps the name that it has: a second's.
const MOST_ATTEMPTS: usize = 100;

/// A name for the file at `path` that was finished at `moment`: the first one from there on that nothing has.
///
/// # Errors
/// All of them are taken.
pub(super) fn free_name(path: &Path, moment: SystemTime) -> io::Result<PathBuf> {
    let moments = std::iter::successors(Some(moment), |moment| moment.checked_add(STEP));
    let names = moments
        .take(MOST_ATTEMPTS)
        .map(|moment| stamped(path, moment));
    let mut free = names.filter(|name| name.symlink_metadata().is_err());
    free.next()
        .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
}

/// `PATH.YYYYMMDDhhmmss` with hundredths of a second behind, as perf names such files.
fn stamped(path: &Path, moment: SystemTime) -> PathBuf {
    // A clock that was set before 1970 counts as 1970.
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = LocalTime::at(i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    let LocalTime {
        year,
        month,
        day,
        hour,
        minute,
        second,
    } = time;
    let hundredths = since.subsec_millis() / 10;
    let suffix = format!(".{year}{month:02}{day:02}{hour:02}{minute:02}{second:02}{hundredths:02}");
    with_suffix(path, &suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_moment_to_the_hundredth() {
        let moment = UNIX_EPOCH + Duration::from_millis(951_782_400_078);
        let name = stamped(Path::new("/a/perf.data"), moment);
        let name = name.to_str().unwrap();
        // The time zone is this machine's.
        assert!(name.starts_with("/a/perf.data.20000"), "{name}");
        assert!(
            name.ends_with("07") && name.len() == "/a/perf.data.".len() + 16,
            "{name}"
        );
    }

    #[test]
    fn a_name_that_is_taken_is_left_alone() {
        let folder = std::env::temp_dir().join(format!("oxperf-stamp-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x");
        let first = free_name(&path, UNIX_EPOCH).unwrap();
        std::os::unix::fs::symlink("nowhere", &first).unwrap();
        let second = free_name(&path, UNIX_EPOCH).unwrap();
        assert_eq!(second, stamped(&path, UNIX_EPOCH + STEP));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
