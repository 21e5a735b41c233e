//! The cache of fetched files, which this program shares with the standard client, held below an age and a size.
//!
//! As with that client, a file that nobody used for so many seconds as `max_unused_age_s` in the cache says (a week) goes, looked
//! at as often as `cache_clean_interval_s` says (once a day). Beyond that a cache that is too large loses the files that were used
//! least recently. Only what has the place and name of a fetched file is ever removed.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cache::parse_id;

/// The files that hold the standard client's numbers of seconds, and what holds without them.
const INTERVAL: (&str, u64) = ("cache_clean_interval_s", 24 * 60 * 60);
const UNUSED_AGE: (&str, u64) = ("max_unused_age_s", 7 * 24 * 60 * 60);

/// A file of the cache.
struct Kept {
    used: SystemTime,
    size: u64,
    path: PathBuf,
}

/// Notes that a file was of use now.
pub(super) fn note_use(path: &Path) {
    // A cache that cannot be written to is one that nothing is removed from, either.
    let _ = File::open(path)
        .and_then(|file| file.set_times(FileTimes::new().set_accessed(SystemTime::now())));
}

/// Removes what is too old, if it is time to look, and what is too much; `but` stays.
pub(super) fn make_room(cache: &Path, limit: u64, but: &Path) {
    let mut files: Vec<Kept> = kept(cache)
        .into_iter()
        .filter(|file| file.path != but)
        .collect();
    let own = fs::metadata(but).map_or(0, |data| data.len());
    if is_time(cache) {
        let oldest = SystemTime::now().checked_sub(seconds(cache, UNUSED_AGE));
        files.retain(|file| !(oldest.is_some_and(|oldest| file.used < oldest) && remove(file)));
    }
    files.sort_by_key(|file| file.used);
    let mut size = files
        .iter()
        .map(|file| file.size)
        .fold(own, u64::saturating_add);
    for file in &files {
        if size <= limit {
            return;
        }
        if remove(file) {
            size = size.saturating_sub(file.size);
        }
    }
}

/// The files of all build ids. Those that are being written have other names.
fn kept(cache: &Path) -> Vec<Kept> {
    let is_id = |path: &Path| {
        path.file_name()
            .and_then(|name| parse_id(name.to_str()?))
            .is_some()
    };
    let folders = entries(cache).into_iter().filter(|path| is_id(path));
    folders
        .flat_map(|folder| entries(&folder))
        .filter_map(kept_file)
        .collect()
}

fn kept_file(path: PathBuf) -> Option<Kept> {
    let name = path.file_name()?.to_str()?;
    let is_fetched = matches!(name, "executable" | "debuginfo") || name.starts_with("source");
    let data = fs::symlink_metadata(&path)
        .ok()
        .filter(|data| is_fetched && data.is_file())?;
    let used = data.accessed().into_iter().chain(data.modified()).max()?;
    Some(Kept {
        used,
        size: data.len(),
        path,
    })
}

fn remove(file: &Kept) -> bool {
    let removed = fs::remove_file(&file.path).is_ok();
    // A folder that is empty now goes, too; others stay.
    let _ = file.path.parent().map(fs::remove_dir);
    removed
}

/// Returns whether the interval has passed since the cache was looked at last; notes that it is looked at now.
fn is_time(cache: &Path) -> bool {
    let note = cache.join(INTERVAL.0);
    let interval = seconds(cache, INTERVAL);
    let last = fs::symlink_metadata(&note).and_then(|data| data.modified());
    if last.is_ok_and(|last| last.elapsed().is_ok_and(|age| age < interval)) {
        return false;
    }
    // Without the note the cache is looked at again the next time.
    let _ = File::options()
        .create(true)
        .append(true)
        .open(&note)
        .and_then(|file| file.set_modified(SystemTime::now()));
    true
}

fn seconds(cache: &Path, setting: (&str, u64)) -> Duration {
    let (name, usual) = setting;
    let text = fs::read_to_string(cache.join(name)).unwrap_or_default();
    Duration::from_secs(text.trim().parse().unwrap_or(usual))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache with a file of 100 bytes for each age in days, and one that is no fetched file.
    fn cache(name: &str, ages: &[u64]) -> (PathBuf, Vec<PathBuf>) {
        let cache =
            std::env::temp_dir().join(format!("oxperf-eviction-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&cache);
        let mut files = Vec::new();
        for (number, days) in ages.iter().enumerate() {
            let folder = cache.join(format!("{number:040x}"));
            fs::create_dir_all(&folder).unwrap();
            for name in ["debuginfo", "debuginfo.1.2.tmp"] {
                fs::write(folder.join(name), [0; 100]).unwrap();
            }
            let time = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
            let times = FileTimes::new().set_accessed(time).set_modified(time);
            File::options()
                .write(true)
                .open(folder.join("debuginfo"))
                .unwrap()
                .set_times(times)
                .unwrap();
            files.push(folder.join("debuginfo"));
        }
        fs::write(cache.join("other"), [0; 1000]).unwrap();
        (cache, files)
    }

    fn there(files: &[PathBuf]) -> Vec<bool> {
        files.iter().map(|file| file.exists()).collect()
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let (cache, files) = cache("size", &[1, 3, 2, 4]);
        note_use(&files[3]);
        make_room(&cache, 200, &files[0]);
        assert_eq!(there(&files), [true, false, false, true]);
        assert!(
            cache.join("other").exists() && files[1].with_file_name("debuginfo.1.2.tmp").exists()
        );
        fs::remove_dir_all(cache).unwrap();
    }

    #[test]
    fn what_nobody_uses_goes_after_a_week_once_a_day() {
        let (cache, files) = cache("age", &[9, 6, 9]);
        make_room(&cache, 1 << 20, &files[2]);
        assert_eq!(there(&files), [false, true, true]);
        make_room(&cache, 1 << 20, &files[1]);
        assert_eq!(there(&files[2..]), [true], "it was looked at today");
        fs::write(cache.join("cache_clean_interval_s"), "0").unwrap();
        fs::write(cache.join("max_unused_age_s"), "99999999").unwrap();
        make_room(&cache, 1 << 20, &files[1]);
        assert_eq!(
            there(&files[2..]),
            [true],
            "the cache says how old they may be"
        );
        fs::remove_dir_all(cache).unwrap();
    }
}
