//! Two texts line by line, without the lines that do not depend on the data.

use std::collections::HashMap;

/// Beginnings of lines that differ from run to run in perf itself.
const VOLATILE: [&[u8]; 2] = [b"# captured on ", b"# (Tip: "];

/// First line at which two texts part, and how many differ.
pub(super) struct Difference {
    /// The first line that differs, from 1, in the expected text.
    pub(super) line: usize,
    /// Lines that are not the same in their places.
    pub(super) lines: usize,
    pub(super) expected: String,
    pub(super) got: String,
}

/// Compares our text with perf's, line by line.
pub(super) fn difference(expected: &[u8], got: &[u8]) -> Option<Difference> {
    let (mut left, mut right) = (lines(expected), lines(got));
    let mut found: Option<Difference> = None;
    loop {
        let (a, b) = (left.next(), right.next());
        if a.is_none() && b.is_none() {
            return found;
        }
        if a.map(|(_, text)| text) != b.map(|(_, text)| text) {
            found.get_or_insert_with(|| first(a, b)).lines += 1;
        }
    }
}

fn first(expected: Option<(usize, &[u8])>, got: Option<(usize, &[u8])>) -> Difference {
    let line = expected.or(got).map_or(0, |(line, _)| line);
    Difference {
        line,
        lines: 0,
        expected: shown(expected),
        got: shown(got),
    }
}

/// Number of lines that the expected text has that ours has not, wherever they stand, and the other way round.
pub(super) fn balance(expected: &[u8], got: &[u8]) -> (usize, usize) {
    let mut counts: HashMap<&[u8], i64> = HashMap::new();
    lines(expected).for_each(|(_, line)| *counts.entry(line).or_default() += 1);
    lines(got).for_each(|(_, line)| *counts.entry(line).or_default() -= 1);
    let sum = |sign: i64| {
        counts
            .values()
            .map(|count| (count * sign).max(0) as usize)
            .sum()
    };
    (sum(1), sum(-1))
}

/// Lines with their numbers; a last line without its end is another line than one with it.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let numbered = text
        .split_inclusive(|byte| *byte == b'\n')
        .zip(1..)
        .map(|(line, number)| (number, line));
    numbered.filter(|(_, line)| !VOLATILE.iter().any(|start| line.starts_with(start)))
}

/// A line as it can stand in a terminal.
fn shown(line: Option<(usize, &[u8])>) -> String {
    let Some((_, bytes)) = line else {
        return "(end of text)".to_owned();
    };
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches('\n');
    text.chars()
        .map(|c| if c.is_control() && c != '\t' { '?' } else { c })
        .take(200)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volatile_lines_are_skipped_and_the_difference_is_found() {
        let expected = b"# captured on    : now\na\nb\n";
        assert!(difference(expected, b"# captured on    : then\na\nb\n").is_none());
        let found = difference(expected, b"a\nc\n").unwrap();
        assert_eq!(
            (
                found.line,
                found.lines,
                found.expected.as_str(),
                found.got.as_str()
            ),
            (3, 1, "b", "c")
        );
    }

    #[test]
    fn lines_are_weighed_wherever_they_stand() {
        assert_eq!(balance(b"a\nb\nb\n", b"b\na\nc\nd\n"), (1, 2));
        assert_eq!(balance(b"", b""), (0, 0));
    }

    #[test]
    fn a_missing_end_is_a_difference() {
        assert_eq!(difference(b"a\nb\n", b"a\n").unwrap().got, "(end of text)");
        assert!(difference(b"a\n", b"a").is_some());
    }
}
