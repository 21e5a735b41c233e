//! Two texts line by line, without the lines that do not depend on the data.

/// Beginnings of lines that differ from run to run in perf itself.
const VOLATILE: [&[u8]; 2] = [b"# captured on ", b"# (Tip: "];

/// The first line that differs.
pub(super) struct Difference {
    /// From 1, in the expected text.
    pub(super) line: usize,
    pub(super) expected: String,
    pub(super) got: String,
}

/// Compares our text with perf's.
pub(super) fn first_difference(expected: &[u8], got: &[u8]) -> Option<Difference> {
    let (mut left, mut right) = (lines(expected), lines(got));
    loop {
        let (a, b) = (left.next(), right.next());
        if a.is_none() && b.is_none() {
            return None;
        }
        if a.map(|(_, text)| text) != b.map(|(_, text)| text) {
            let line = a.or(b).map_or(0, |(line, _)| line);
            return Some(Difference { line, expected: shown(a), got: shown(b) });
        }
    }
}

/// Lines with their numbers; a last line without its end is another line than one with it.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = text.split_inclusive(|byte| *byte == b'\n').zip(1..).map(|(line, number)| (number, line));
    numbered.filter(|(_, line)| !VOLATILE.iter().any(|start| line.starts_with(start)))
}

/// A line as it can stand in a terminal.
fn shown(line: Option<(usize, &[u8])>) -> String {
    let Some((_, bytes)) = line else { return "(end of text)".to_owned() };
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches('\n');
    text.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volatile_lines_are_skipped_and_the_first_difference_is_found() {
        let expected = b"# captured on    : now\na\nb\n";
        assert!(first_difference(expected, b"# captured on    : then\na\nb\n").is_none());
        let found = first_difference(expected, b"a\nc\n").unwrap();
        assert_eq!((found.line, found.expected.as_str(), found.got.as_str()), (3, "b", "c"));
    }

    #[test]
    fn a_missing_end_is_a_difference() {
        assert_eq!(first_difference(b"a\nb\n", b"a\n").unwrap().got, "(end of text)");
        assert!(first_difference(b"a\n", b"a").is_some());
    }
}
