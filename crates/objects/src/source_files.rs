//! Source text, which debug information names by path.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::Places;

/// Longest source file that is read.
const SIZE_LIMIT: u64 = 64 << 20;

/// Source files, each read once.
#[derive(Debug, Default)]
pub struct SourceFiles {
    places: Places,
    /// Whether files outside of the given root may be read, too.
    also_outside: bool,
    files: HashMap<String, Option<Vec<String>>>,
}

impl SourceFiles {
    /// Looks for files below the root of `places`; `also_outside` in the machine's own root, too.
    pub fn new(places: Places, also_outside: bool) -> SourceFiles {
        SourceFiles { places, also_outside, files: HashMap::new() }
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
        let below = self.places.recorded(path.as_bytes()).ok();
        let outside = self.also_outside.then(|| PathBuf::from(path));
        let bytes = [below, outside].into_iter().flatten().find_map(|path| read_text(&path))?;
        Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }
}

fn read_text(path: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SIZE_LIMIT {
        return None;
    }
    std::fs::read(path).ok()
}
