//! Files whose names are not all text: a recording's paths come here with U+FFFD in the place of bytes that are no UTF-8.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Most files that are looked at in the place of one.
const MOST: usize = 16;

/// The files whose paths read like `path`; none where all of it is text.
pub(super) fn reading_like(path: &Path) -> Vec<PathBuf> {
    if !path.components().any(|part| is_replaced(part.as_os_str())) {
        return Vec::new();
    }
    path.components()
        .fold(vec![PathBuf::new()], |folders, part| match part {
            Component::Normal(name) if is_replaced(name) => folders
                .iter()
                .flat_map(|folder| entries_like(folder, name))
                .take(MOST)
                .collect(),
            part => folders
                .into_iter()
                .map(|folder| folder.join(part))
                .collect(),
        })
}

fn is_replaced(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| name.contains(char::REPLACEMENT_CHARACTER))
}

fn entries_like(folder: &Path, name: &OsStr) -> Vec<PathBuf> {
    let told = name.to_string_lossy();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let like = entries.filter(|entry| entry.file_name().to_str().is_none());
    like.filter(|entry| entry.file_name().to_string_lossy() == told)
        .map(|entry| entry.path())
        .collect()
}
