//! Untrusted names made harmless: what would steer a terminal or turn a line around becomes visible text.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every control and direction character spelled out, such as `\x1b` or `\u{202e}`.
///
/// ```
/// use oxperf_present::text::sanitize;
/// assert_eq!(sanitize("vec<int>::push"), "vec<int>::push");
/// assert_eq!(sanitize("\x1b[31mred"), "\\x1b[31mred");
/// ```
pub fn sanitize(text: &str) -> Cow<'_, str> {
    // To the end whatever comes: that the compiler does many bytes at once.
    let printable_ascii = text
        .bytes()
        .fold(true, |so_far, byte| so_far & (0x20..0x7f).contains(&byte));
    if printable_ascii || !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        push_visible(&mut out, c);
    }
    Cow::Owned(out)
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if !is_hidden(c) => out.push(c),
        c if c.is_ascii() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Control characters, marks that change the direction of what follows, line separators and invisible signs.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(
            sanitize("שלום (libx.so)"),
            Cow::Borrowed("שלום (libx.so)")
        ));
    }

    #[test]
    fn controls_and_directions_are_spelled_out() {
        assert_eq!(
            sanitize("a\nb\r\t\0\u{7f}\u{9b}"),
            "a\\nb\\r\\t\\x00\\x7f\\u{9b}"
        );
        assert_eq!(
            sanitize("\u{202e}evil\u{2066}\u{feff}"),
            "\\u{202e}evil\\u{2066}\\u{feff}"
        );
    }
}
