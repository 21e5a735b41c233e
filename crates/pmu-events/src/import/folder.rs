//! The files of a folder and of those in it.

use super::{ImportedFile, io, is_of_tables};
use crate::error::TablesError;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders in folders are looked into to this depth.
const MAX_DEPTH: usize = 12;

/// The files of a folder that belong to tables, with paths relative to it. Links are not followed.
pub fn files_of_folder(root: &Path) -> impl Iterator<Item = Result<ImportedFile, TablesError>> {
    let mut paths = Vec::new();
    let listed = list(root, MAX_DEPTH, &mut paths);
    paths.sort();
    let root = root.to_owned();
    let failed = listed.err().map(Err);
    let read = paths.into_iter().map(move |path| {
        let contents = fs::read(&path).map_err(|error| io(&path, error))?;
        let path = path.strip_prefix(&root).unwrap_or(&path).to_owned();
        Ok(ImportedFile { path, contents })
    });
    failed.into_iter().chain(read)
}

fn list(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), TablesError> {
    let entries = fs::read_dir(folder).map_err(|error| io(folder, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| io(folder, error))?;
        let kind = entry.file_type().map_err(|error| io(folder, error))?;
        if kind.is_dir() && depth > 0 {
            list(&entry.path(), depth - 1, paths)?;
        } else if kind.is_file() && is_of_tables(&entry.path()) {
            paths.push(entry.path());
        }
    }
    Ok(())
}
