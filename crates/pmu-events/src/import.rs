//! Tables taken into a folder of the user's: from a folder, or from an archive.

mod folder;
mod zip;

use crate::error::TablesError;
use crate::mapfile::Mapfile;
use crate::plain_names;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

pub use folder::files_of_folder;
pub use zip::files_of_zip;

/// An import of more bytes than this is refused.
const MAX_IMPORT: usize = 512 << 20;

/// A file to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// Its path in the folder or archive.
    pub path: PathBuf,
    /// Its bytes.
    pub contents: Vec<u8>,
}

/// The end of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSummary {
    /// The folder that holds the tables now.
    pub folder: PathBuf,
    /// The number of its files.
    pub files: usize,
}

/// Returns whether a file belongs to tables: JSON, mapfiles, licences.
pub fn is_of_tables(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".json") || is_mapfile(path) || name.starts_with("LICENSE")
}

/// Copies the tables among `files` below `destination`: to `kernel`, `perfmon` or `arm`, by their layout, in the place of
/// what an import left there before.
///
/// # Errors
/// A file cannot be read or written, or there are no tables among them; what was imported before stays then.
pub fn import(
    source: &Path,
    files: impl IntoIterator<Item = Result<ImportedFile, TablesError>>,
    destination: &Path,
) -> Result<ImportSummary, TablesError> {
    let files = collect(source, files)?;
    let layout = Layout::of(&files).ok_or_else(|| TablesError::NoTables {
        path: source.to_owned(),
    })?;
    let folder = destination.join(layout.name);
    let fresh = destination.join(format!("{}.new", layout.name));
    remove(&fresh)?;
    let (mut count, mut names) = (0, BTreeSet::new());
    for file in &files {
        if let Ok(path) = file.path.strip_prefix(&layout.root) {
            write(&fresh.join(path), &file.contents)?;
            plain_names::collect(&String::from_utf8_lossy(&file.contents), &mut names);
            count += 1;
        }
    }
    let names = plain_names::write(&names);
    write(&fresh.join(plain_names::FILE), names.as_bytes())?;
    remove(&folder)?;
    fs::rename(&fresh, &folder).map_err(|error| io(&folder, error))?;
    Ok(ImportSummary {
        folder,
        files: count,
    })
}

/// The files that belong to tables, within bounds. A path that leads out of the folder is passed over.
fn collect(
    source: &Path,
    files: impl IntoIterator<Item = Result<ImportedFile, TablesError>>,
) -> Result<Vec<ImportedFile>, TablesError> {
    let (mut found, mut size) = (Vec::new(), 0_usize);
    for file in files {
        let file = file?;
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !is_of_tables(&file.path) || !file.path.components().all(is_plain) {
            continue;
        }
        size = size.saturating_add(file.contents.len());
        if size > MAX_IMPORT {
            return Err(TablesError::Archive {
                path: source.to_owned(),
                why: format!("more than {MAX_IMPORT} bytes of tables"),
            });
        }
        found.push(file);
    }
    Ok(found)
}

/// The form of what is imported, and the folder in it where it begins.
struct Layout {
    name: &'static str,
    root: PathBuf,
}

impl Layout {
    fn of(files: &[ImportedFile]) -> Option<Layout> {
        let depth = |file: &&ImportedFile| file.path.components().count();
        let mapfile = files
            .iter()
            .filter(|file| is_mapfile(&file.path))
            .min_by_key(depth);
        match mapfile {
            Some(mapfile) => Some(Layout::of_mapfile(mapfile)),
            None => Layout::of_arm(files),
        }
    }

    fn of_mapfile(mapfile: &ImportedFile) -> Layout {
        let folder = mapfile.path.parent().unwrap_or(Path::new(""));
        let text = String::from_utf8_lossy(&mapfile.contents);
        let rows = Mapfile::parse(&text).0;
        let name_files = rows.rows().iter().any(|row| row.path.ends_with(".json"));
        if name_files {
            return Layout {
                name: "perfmon",
                root: folder.to_owned(),
            };
        }
        // All architectures, where the mapfile is that of one.
        Layout {
            name: "kernel",
            root: folder.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }

    /// Arm's files stand in `pmu`, and one of them says which CPUs there are.
    fn of_arm(files: &[ImportedFile]) -> Option<Layout> {
        let is_list = |file: &&ImportedFile| file.path.ends_with("cpus.json");
        let list = files.iter().find(is_list)?;
        Some(Layout {
            name: "arm",
            root: list.path.parent()?.to_owned(),
        })
    }
}

fn is_mapfile(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("mapfile.csv")
}

fn write(path: &Path, contents: &[u8]) -> Result<(), TablesError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| io(folder, error))?;
    }
    fs::write(path, contents).map_err(|error| io(path, error))
}

fn remove(folder: &Path) -> Result<(), TablesError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(folder, error)),
        _ => Ok(()),
    }
}

fn io(path: &Path, error: std::io::Error) -> TablesError {
    TablesError::Io {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests;
