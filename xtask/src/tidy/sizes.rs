//! Sizes: no large file in the repository; long files and functions are worth a look.

use std::path::PathBuf;

use super::{Findings, Source};
use crate::workspace;

const LARGEST_FILE: u64 = 1 << 20;
const LONG_FILE: usize = 400;
const LONG_FUNCTION: usize = 60;

/// Checks the size of every file and lists long sources.
pub(super) fn check(files: &[PathBuf], sources: &[Source], findings: &mut Findings) {
    for path in files {
        let size = std::fs::metadata(workspace::root().join(path)).map_or(0, |found| found.len());
        if size > LARGEST_FILE {
            findings.broken(
                path.display(),
                format!("{size} bytes; nothing over 1 MB belongs into the repository"),
            );
        }
    }
    sources
        .iter()
        .for_each(|source| note_long(source, findings));
}

fn note_long(source: &Source, findings: &mut Findings) {
    let lines = source.text.lines().count();
    if lines > LONG_FILE {
        findings.noted(
            source.path.display(),
            format!("{lines} lines: is there a second idea in it?"),
        );
    }
    for (line, length) in functions(&source.text).filter(|(_, length)| *length > LONG_FUNCTION) {
        findings.noted(
            format!("{}:{line}", source.path.display()),
            format!("a function of {length} lines"),
        );
    }
}

/// First line and length of every function; rustfmt closes each at the indent where it began.
fn functions(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = (0..lines.len())
        .filter(|at| is_function(lines[*at]))
        .collect();
    starts.into_iter().filter_map(move |start| {
        let close = format!("{}}}", " ".repeat(indent(lines[start])));
        let length = lines[start..].iter().position(|line| *line == close)?;
        Some((start + 1, length + 1))
    })
}

fn is_function(line: &str) -> bool {
    let words = [
        "fn ",
        "pub fn ",
        "pub(crate) fn ",
        "pub(super) fn ",
        "const fn ",
        "pub const fn ",
    ];
    let text = line.trim_start();
    words.iter().any(|word| text.starts_with(word)) && !text.ends_with([';', '}'])
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured() {
        let text = "impl X {\n    fn a(&self) {\n        b()\n    }\n}\nfn short() {}\nfn c(\n    x: u8,\n) {\n}\n";
        assert_eq!(functions(text).collect::<Vec<_>>(), [(2, 3), (7, 4)]);
    }
}
