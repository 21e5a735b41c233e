//! What was learned of objects and of the kernel, kept for the next run: a file for each build id, or boot, and topic,
//! `learned/ab/cdef...symbols` and `learned/ab/cdef...sources`.
//!
//! Nothing depends on these files: one that cannot be read, that belongs to somebody else, or that is damaged, is as if it
//! were not there, and what cannot be written is not kept. Nobody else may read them, as they may say where the kernel
//! lies. A folder of somebody else (the home of a user under `sudo -E`) is left alone. It is held below a size by deleting
//! what was used least recently.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use oxperf_abi::BuildId;
use oxperf_symbols::{CacheEntry, Topic};
use oxperf_sys::files::open_regular_itself;
use oxperf_sys::process::effective_user;

/// Bytes of one file; a larger one is not ours.
const FILE_LIMIT: u64 = 64 << 20;
/// Bytes of all files.
const FOLDER_LIMIT: u64 = 512 << 20;

/// The folder of such files.
#[derive(Clone, Debug)]
pub(crate) struct LearnedCache {
    folder: PathBuf,
}

impl LearnedCache {
    /// The files below the program's cache folder.
    pub(crate) fn below(cache: &Path) -> LearnedCache {
        LearnedCache {
            folder: cache.join("learned"),
        }
    }

    fn path(&self, id: BuildId, topic: Topic) -> Option<PathBuf> {
        let text = id.to_string();
        let (folder, name) = text.split_at_checked(2)?;
        let topic = match topic {
            Topic::Symbols => "symbols",
            Topic::Sources => "sources",
        };
        (!name.is_empty()).then(|| self.folder.join(folder).join(format!("{name}.{topic}")))
    }

    /// The facts that are known of an object.
    pub(crate) fn load(&self, id: BuildId, topic: Topic) -> Option<Vec<u8>> {
        let path = self.path(id, topic)?;
        let file = open_regular_itself(&path).ok()?;
        if file.metadata().ok()?.uid() != effective_user() {
            return None;
        }
        let mut bytes = Vec::new();
        Read::by_ref(&mut &file)
            .take(FILE_LIMIT + 1)
            .read_to_end(&mut bytes)
            .ok()?;
        // Remembers that it was of use; a folder that cannot be written still is.
        let _ = file.set_modified(SystemTime::now());
        (bytes.len() as u64 <= FILE_LIMIT).then_some(bytes)
    }

    /// Keeps what is known of objects.
    pub(crate) fn keep(&self, learned: &[CacheEntry]) {
        if !self.is_ours() {
            return;
        }
        let written = learned
            .iter()
            .filter(|learned| self.write(learned).is_ok())
            .count();
        if written > 0 {
            self.make_room();
        }
    }

    /// `true` if the folder is the user's own, and not a link; it is made where it is not there.
    fn is_ours(&self) -> bool {
        let make = || {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.folder)
        };
        if fs::symlink_metadata(&self.folder).is_err() && make().is_err() {
            return false;
        }
        let ours = |path: &Path| {
            fs::symlink_metadata(path)
                .is_ok_and(|found| found.is_dir() && found.uid() == effective_user())
        };
        ours(&self.folder) && self.folder.parent().is_some_and(ours)
    }

    /// Writes beside the place and moves there, so that nobody reads half a file.
    fn write(&self, learned: &CacheEntry) -> io::Result<()> {
        let CacheEntry { of, topic, bytes } = learned;
        let fits = bytes.len() as u64 <= FILE_LIMIT;
        let Some((path, folder)) = self.path(*of, *topic).filter(|_| fits).and_then(|path| {
            let folder = path.parent()?.to_owned();
            Some((path, folder))
        }) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let beside = path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)?;
        file.write_all(bytes)
            .and_then(|()| fs::rename(&beside, &path))
            .inspect_err(|_| {
                let _ = fs::remove_file(&beside);
            })
    }

    /// Deletes the files that were used least recently until the rest fits.
    fn make_room(&self) {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for folder in entries(&self.folder) {
            for path in entries(&folder) {
                if let Ok(data) = fs::symlink_metadata(&path)
                    && data.is_file()
                {
                    files.push((
                        data.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                        data.len(),
                        path,
                    ));
                }
            }
        }
        files.sort();
        let mut size: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, length, path) in files {
            if size <= FOLDER_LIMIT {
                return;
            }
            if fs::remove_file(path).is_ok() {
                size -= length;
            }
        }
    }
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

    #[test]
    fn what_is_kept_is_loaded() {
        let folder =
            std::env::temp_dir().join(format!("oxperf-learned-cache-{}", std::process::id()));
        let cache = LearnedCache::below(&folder);
        let id = BuildId::new(&[0xab; 20]).unwrap();
        let keep = |bytes: &[u8]| {
            cache.keep(&[CacheEntry {
                of: id,
                topic: Topic::Sources,
                bytes: bytes.to_vec(),
            }]);
        };
        assert_eq!(cache.load(id, Topic::Sources), None);
        keep(b"learned");
        assert_eq!(
            cache.load(id, Topic::Sources).as_deref(),
            Some(&b"learned"[..])
        );
        keep(b"more");
        assert_eq!(
            cache.load(id, Topic::Sources).as_deref(),
            Some(&b"more"[..])
        );
        assert_eq!(cache.load(id, Topic::Symbols), None);
        let kept: Vec<PathBuf> = entries(&folder.join("learned").join("ab"));
        assert_eq!(kept.len(), 1, "nothing is left beside it");
        assert_eq!(fs::metadata(&kept[0]).unwrap().mode() & 0o777, 0o600);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_leads_elsewhere_or_belongs_to_others_is_left_alone() {
        let folder =
            std::env::temp_dir().join(format!("oxperf-learned-planted-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.join("learned")).unwrap();
        let cache = LearnedCache::below(&folder);
        let id = BuildId::new(&[0xab; 20]).unwrap();
        let keep = || {
            cache.keep(&[CacheEntry {
                of: id,
                topic: Topic::Sources,
                bytes: b"x".to_vec(),
            }])
        };
        keep();
        assert_eq!(
            entries(&folder.join("elsewhere")),
            <[PathBuf; 0]>::default()
        );
        fs::remove_file(folder.join("learned")).unwrap();
        keep();
        assert_eq!(cache.load(id, Topic::Sources).as_deref(), Some(&b"x"[..]));
        // A link in the place of an entry, and one of somebody else.
        let path = cache.path(id, Topic::Sources).unwrap();
        fs::rename(&path, folder.join("moved")).unwrap();
        std::os::unix::fs::symlink(folder.join("moved"), &path).unwrap();
        assert_eq!(cache.load(id, Topic::Sources), None);
        fs::rename(folder.join("moved"), &path).unwrap();
        if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
            assert_eq!(cache.load(id, Topic::Sources), None);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
