//! Descriptions wrapped to the width of the terminal, as perf wraps them.

use crate::text::push_name;

/// The column at which descriptions begin.
const START: usize = 8;

/// Appends `[TEXT]` in its own lines.
pub(super) fn bracketed(out: &mut Vec<u8>, text: &str, columns: usize) {
    out.extend_from_slice(b"       [");
    wrap(out, text, columns);
    out.extend_from_slice(b"]\n");
}

/// Appends a text in its own lines.
pub(super) fn indented(out: &mut Vec<u8>, text: &str, columns: usize) {
    out.extend_from_slice(&[b' '; START]);
    wrap(out, text, columns);
    out.push(b'\n');
}

/// Appends the words of a text. The cursor is at the column where lines begin. A line ends where the text has a newline,
/// and before a word that would reach the last column. What separates two words becomes one blank, or one comma if it
/// begins with that.
fn wrap(out: &mut Vec<u8>, text: &str, columns: usize) {
    let (mut column, mut separator) = (START, "");
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(is_separator).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        if separator.ends_with('\n') || (column + length >= columns && column > START) {
            out.extend_from_slice(separator.trim_end_matches([' ', '\n']).as_bytes());
            out.push(b'\n');
            out.extend_from_slice(&[b' '; START]);
            column = START;
        } else if column > START {
            out.extend_from_slice(separator.as_bytes());
            column += separator.len();
        }
        push_name(out, word.as_bytes());
        column += length;
        separator = match behind.bytes().next() {
            Some(b',') => ",",
            Some(b'\n') => "\n",
            _ => " ",
        };
        rest = behind.trim_start_matches(is_separator_or_space);
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | ',' | '\t' | '\n')
}

fn is_separator_or_space(c: char) -> bool {
    is_separator(c) || c.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize) -> String {
        let mut out = Vec::new();
        bracketed(&mut out, text, columns);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_go_to_the_next_line_whole() {
        assert_eq!(
            wrapped("one two three", 14),
            "       [one\n        two\n        three]\n"
        );
        assert_eq!(
            wrapped("one two three", 15),
            "       [one two\n        three]\n"
        );
        assert_eq!(
            wrapped("a_very_long_word b", 12),
            "       [a_very_long_word\n        b]\n"
        );
    }

    #[test]
    fn separators_shrink_and_newlines_stay() {
        assert_eq!(wrapped("a, b,c  d\te", 40), "       [a,b,c d e]\n");
        assert_eq!(wrapped("long, er", 13), "       [long,\n        er]\n");
        assert_eq!(
            wrapped("a:\n\n\tb;\tc\n", 40),
            "       [a:\n        b; c]\n"
        );
    }

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(wrapped("a\u{1b}[31m", 40), "       [a\\x1b[31m]\n");
    }
}
