//! Source text, which debug information names by path.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use oxperf_sys::files::open_regular;

use crate::SearchPaths;

/// Longest source file that is read.
const SIZE_LIMIT: u64 = 64 << 20;

/// Source files, each read once.
#[derive(Debug, Default)]
pub struct SourceFiles {
    places: SearchPaths,
    /// True if files outside of the given root may be read, too.
    also_outside: bool,
    /// Number of folders that are left out of a path, and what stands before the rest.
    moved: Option<(usize, String)>,
    files: HashMap<String, Option<SourceText>>,
    unreadable: Vec<(PathBuf, ErrorKind)>,
}

/// The text of a source file by lines.
#[derive(Debug)]
pub struct SourceText {
    text: String,
    /// Start of each line, and of one behind the last.
    starts: Vec<usize>,
}

impl SourceText {
    fn new(bytes: Vec<u8>) -> SourceText {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let behind = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(behind).collect();
        if starts.last().is_some_and(|last| *last < text.len()) {
            starts.push(text.len());
        }
        SourceText { text, starts }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns whether there is no line at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A line without its end, counted from 1; `None` where there is none of that number.
    pub fn line(&self, number: usize) -> Option<&str> {
        let (start, behind) = (
            self.starts.get(number.checked_sub(1)?)?,
            self.starts.get(number)?,
        );
        let line = self.text.get(*start..*behind)?;
        let line = line
            .strip_suffix('\n')
            .map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        Some(line)
    }
}

impl SourceFiles {
    /// Looks for files below the root of `places`; `also_outside` in the machine's own root, too.
    pub fn new(places: SearchPaths, also_outside: bool) -> SourceFiles {
        SourceFiles {
            places,
            also_outside,
            ..SourceFiles::default()
        }
    }

    /// Files lie elsewhere than their paths say: the first folders of an absolute path are left out, and the rest is
    /// looked for below `prefix`.
    #[must_use]
    pub fn moved(self, folders: usize, prefix: &str) -> SourceFiles {
        SourceFiles {
            moved: Some((folders, prefix.to_owned())),
            ..self
        }
    }

    /// A file; `None` if it cannot be read.
    pub fn text(&mut self, path: &str) -> Option<&SourceText> {
        if !self.files.contains_key(path) {
            let text = self.read(path);
            self.files.insert(path.to_owned(), text);
        }
        self.files.get(path)?.as_ref()
    }

    /// The files that are there and could not be read so far, with what the system said.
    pub fn unreadable(&self) -> &[(PathBuf, ErrorKind)] {
        &self.unreadable
    }

    fn read(&mut self, path: &str) -> Option<SourceText> {
        let bytes = self
            .candidates(path)
            .into_iter()
            .find_map(|path| match read_text(&path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                        self.unreadable.push((path, error.kind()));
                    }
                    None
                }
            })?;
        Some(SourceText::new(bytes))
    }

    /// Paths that a file may have.
    fn candidates(&self, path: &str) -> Vec<PathBuf> {
        if let Some((folders, prefix)) = self.moved.as_ref().filter(|_| path.starts_with('/')) {
            let names = Path::new(path)
                .components()
                .filter(|part| matches!(part, Component::Normal(_)));
            let rest: PathBuf = names.skip(*folders).collect();
            return vec![Path::new(prefix).join(rest)];
        }
        let below = self.places.recorded(path.as_bytes()).ok();
        let outside = self.also_outside.then(|| PathBuf::from(path));
        below.into_iter().chain(outside).collect()
    }
}

/// The bytes of a file; `None` for what nobody wrote to be read: it is too long.
fn read_text(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(SIZE_LIMIT + 1)
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= SIZE_LIMIT).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_a_text_file() {
        let text = SourceText::new(b"one\r\n\ntw\xffo\nrest\r".to_vec());
        let lines: Vec<_> = (0..=5).map(|number| text.line(number)).collect();
        assert_eq!(
            lines,
            [
                None,
                Some("one"),
                Some(""),
                Some("tw\u{fffd}o"),
                Some("rest\r"),
                None
            ]
        );
        assert_eq!(
            (
                SourceText::new(b"a\n".to_vec()).len(),
                SourceText::new(Vec::new()).len()
            ),
            (1, 0)
        );
    }

    #[test]
    fn moved_files_are_found_below_their_new_place_alone() {
        let folder = std::env::temp_dir().join(format!("oxperf-moved-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("src")).unwrap();
        std::fs::write(folder.join("src/a.c"), "one\ntwo\n").unwrap();
        std::fs::write(folder.join("outside.c"), "no\n").unwrap();
        let lines = |folders, below: &str, path: &str| {
            let prefix = folder.join(below);
            let mut files = SourceFiles::new(SearchPaths::default(), true)
                .moved(folders, prefix.to_str().unwrap());
            files.text(path).map(SourceText::len)
        };
        assert_eq!(lines(2, "", "/build/here/src/a.c"), Some(2));
        assert_eq!(lines(1, "", "/build/here/src/a.c"), None);
        assert_eq!(lines(0, "src", "/../outside.c"), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
