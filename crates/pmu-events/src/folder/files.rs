//! Files of a folder, within bounds, and what was wrong with them.

use crate::error::{TableProblem, TablesError};
use crate::json::{self, Document};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file of more bytes than this is no table.
const MAX_FILE: u64 = 64 << 20;
/// The files of one CPU do not have more bytes than this.
const MAX_ALL: u64 = 256 << 20;

/// Reads files and keeps the problems.
#[derive(Debug, Default)]
pub(super) struct Files {
    read: u64,
    pub(super) problems: Vec<TableProblem>,
}

impl Files {
    /// The text of a file; `None`, and a problem, if it cannot be had.
    pub(super) fn read(&mut self, path: &Path) -> Option<String> {
        let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
        if size > MAX_FILE || self.read.saturating_add(size) > MAX_ALL {
            self.problem(path, None, "a smaller file");
            return None;
        }
        self.read += size;
        match fs::read(path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => {
                self.problem(path, None, &format!("a file that can be read: {error}"));
                None
            }
        }
    }

    pub(super) fn problem(&mut self, file: &Path, line: Option<usize>, expected: &str) {
        self.problems.push(TableProblem {
            file: file.to_owned(),
            line,
            expected: expected.to_owned(),
        });
    }

    /// Takes note of the faults of a document.
    pub(super) fn faults(&mut self, file: &Path, text: &str, document: &Document<'_>) {
        for fault in &document.faults {
            let line = json::line_at(text, fault.offset);
            self.problem(file, Some(line), &fault.expected);
        }
    }
}

/// The names in a folder, sorted. Names that are no text are passed over.
pub(super) fn entries(folder: &Path) -> Result<Vec<String>, TablesError> {
    let listed = fs::read_dir(folder).map_err(|error| TablesError::Io {
        path: folder.to_owned(),
        error,
    })?;
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

/// The JSON files of a folder, by name.
pub(super) fn json_files(folder: &Path) -> Vec<PathBuf> {
    let names = entries(folder).unwrap_or_default();
    let names = names.iter().filter(|name| name.ends_with(".json"));
    let paths = names.map(|name| folder.join(name));
    paths.filter(|path| path.is_file()).collect()
}

/// A path of a mapfile below its folder; `None` for one that leads out of it.
pub(super) fn below(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    path.components().all(is_plain).then(|| folder.join(path))
}
