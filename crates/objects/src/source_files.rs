//! Source text, which debug information names by path.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::Places;

/// Longest source file that is read.
const SIZE_LIMIT: u64 = 64 << 20;

/// Source files, each read once.
#[derive(Debug, Default)]
pub struct SourceFiles {
    places: Places,
    /// Whether files outside of the given root may be read, too.
    also_outside: bool,
    /// How many folders are left out of a path, and what stands before the rest.
    moved: Option<(usize, String)>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl SourceFiles {
    /// Looks for files below the root of `places`; `also_outside` in the machine's own root, too.
    pub fn new(places: Places, also_outside: bool) -> SourceFiles {
        SourceFiles { places, also_outside, moved: None, files: HashMap::new() }
    }

    /// Files lie elsewhere than their paths say: the first folders of an absolute path are left out, and the rest is
    /// looked for below `prefix`.
    #[must_use]
    pub fn moved(self, folders: usize, prefix: &str) -> SourceFiles {
        SourceFiles { moved: Some((folders, prefix.to_owned())), ..self }
    }

    /// The lines of a file; `None` if it cannot be read.
    pub fn lines(&mut self, path: &str) -> Option<&[String]> {
        if !self.files.contains_key(path) {
            let text = self.read(path);
            self.files.insert(path.to_owned(), text);
        }
        self.files.get(path)?.as_deref()
    }

    fn read(&self, path: &str) -> Option<Vec<String>> {
        if let Some((folders, prefix)) = self.moved.as_ref().filter(|_| path.starts_with('/')) {
            let names = Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
            let rest: PathBuf = names.skip(*folders).collect();
            return Some(text_lines(&read_text(&Path::new(prefix).join(rest))?));
        }
        let below = self.places.recorded(path.as_bytes()).ok();
        let outside = self.also_outside.then(|| PathBuf::from(path));
        let bytes = [below, outside].into_iter().flatten().find_map(|path| read_text(&path))?;
        Some(text_lines(&bytes))
    }
}

fn text_lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

fn read_text(path: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SIZE_LIMIT {
        return None;
    }
    std::fs::read(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_files_are_found_below_their_new_place_alone() {
        let folder = std::env::temp_dir().join(format!("oxperf-moved-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).unwrap();
        std::fs::write(folder.join("src/a.c"), "one\ntwo\n").unwrap();
        std::fs::write(folder.join("outside.c"), "no\n").unwrap();
        let lines = |folders, below: &str, path: &str| {
            let prefix = folder.join(below);
            let mut files =
                SourceFiles::new(Places::default(), true).moved(folders, prefix.to_str().unwrap());
            files.lines(path).map(<[String]>::len)
        };
        assert_eq!(lines(2, "", "/build/here/src/a.c"), Some(2));
        assert_eq!(lines(1, "", "/build/here/src/a.c"), None);
        assert_eq!(lines(0, "src", "/../outside.c"), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
