//! The names of a table: where they stand in the files that they come from, copied where they come from elsewhere.

use std::sync::Arc;

use oxperf_objects::Found;

use crate::entry::{Suffix, SymbolName};

/// The bytes of all names.
#[derive(Debug, Default)]
pub(crate) struct NameTexts {
    /// Mapped files, whose names are not copied.
    files: Vec<Arc<Found>>,
    /// All other names, one after another.
    pub(crate) own: Vec<u8>,
}

/// A name as the table keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredName {
    pub(crate) at: u32,
    pub(crate) size: u32,
    pub(crate) suffix: Suffix,
    /// The file that it stands in, from 1; 0 for one of the table's own.
    file: u8,
}

impl StoredName {
    /// A name among the table's own.
    pub(crate) fn own(at: u32, size: u32, suffix: Suffix) -> StoredName {
        StoredName::in_file(0, at, size, suffix)
    }

    /// A name in a file of the table, by its number.
    pub(crate) fn in_file(file: u8, at: u32, size: u32, suffix: Suffix) -> StoredName {
        StoredName {
            at,
            size,
            suffix,
            file,
        }
    }

    /// The number of the file that it stands in.
    pub(crate) fn file(self) -> u8 {
        self.file
    }
}

impl NameTexts {
    /// No names yet; those in these files stay there, unless the files were read into memory.
    pub(crate) fn in_files(mut files: Vec<Arc<Found>>) -> NameTexts {
        files.retain(|file| file.contents.is_mapped());
        files.truncate(u8::MAX.into());
        NameTexts {
            files,
            own: Vec::new(),
        }
    }

    /// Keeps a name; `None` if it lies beyond what 32 bits can say.
    pub(crate) fn keep(&mut self, name: SymbolName<'_>) -> Option<StoredName> {
        let size = u32::try_from(name.linkage.len()).ok()?;
        if let Some((file, at)) = self.place(name.linkage) {
            return Some(StoredName {
                at,
                size,
                suffix: name.suffix,
                file,
            });
        }
        let at = u32::try_from(self.own.len()).ok()?;
        self.own.extend_from_slice(name.linkage);
        Some(StoredName::own(at, size, name.suffix))
    }

    /// The file that holds these very bytes, and where.
    fn place(&self, name: &[u8]) -> Option<(u8, u32)> {
        let files = (1..=u8::MAX).zip(&self.files);
        files.into_iter().find_map(|(number, file)| {
            let at = name
                .as_ptr()
                .addr()
                .checked_sub(file.contents.as_ptr().addr())?;
            let is_within = at.checked_add(name.len())? <= file.contents.len();
            Some((number, u32::try_from(at).ok().filter(|_| is_within)?))
        })
    }

    /// Gives back the memory of the files: few of their names are ever asked for.
    pub(crate) fn release_files(&self) {
        self.files.iter().for_each(|file| file.contents.release());
    }

    /// The bytes of a name.
    pub(crate) fn get(&self, name: StoredName) -> &[u8] {
        let text: &[u8] = match usize::from(name.file).checked_sub(1) {
            Some(file) => self.files.get(file).map_or(&[], |file| &file.contents),
            None => &self.own,
        };
        let tail = usize::try_from(name.at)
            .ok()
            .and_then(|at| text.get(at..))
            .unwrap_or_default();
        usize::try_from(name.size)
            .ok()
            .and_then(|size| tail.get(..size))
            .unwrap_or(tail)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use oxperf_objects::{Contents, ObjectOrigin};

    use super::*;

    #[test]
    fn names_of_a_file_stay_there_and_others_are_copied() {
        let path = std::env::temp_dir().join(format!("oxperf-names-{}", std::process::id()));
        fs::write(&path, b"\0main\0work\0").unwrap();
        let found = |contents| {
            Arc::new(Found {
                path: path.clone(),
                origin: ObjectOrigin::RecordedPath,
                contents,
            })
        };
        let file = found(Contents::open(&path).unwrap());
        let read = found(Contents::from_memory(b"read".to_vec()));
        let mut names = NameTexts::in_files(vec![Arc::clone(&read), Arc::clone(&file)]);
        let mut keep = |linkage: &[u8]| {
            names
                .keep(SymbolName {
                    linkage,
                    suffix: Suffix::None,
                })
                .unwrap()
        };
        let kept = [
            keep(&file.contents[6..10]),
            keep(b"elsewhere"),
            keep(&file.contents[1..5]),
            keep(&read.contents),
        ];
        names.release_files();
        assert_eq!(
            kept.map(|name| names.get(name)),
            [&b"work"[..], b"elsewhere", b"main", b"read"]
        );
        assert_eq!(names.own, b"elsewhereread");
        fs::remove_file(&path).unwrap();
    }
}
