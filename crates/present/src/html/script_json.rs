//! JSON that may stand inside an HTML script element: no name can end the element or open a comment in it.

use std::io::{self, Write};

use crate::text::sanitize;

/// Writes `[..]` with what `item` writes for each.
pub(crate) fn write_array<T, W: Write>(
    items: &[T],
    out: &mut W,
    mut item: impl FnMut(&T, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, value) in items.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        item(value, out)?;
    }
    out.write_all(b"]")
}

/// Writes a quoted string; control and direction characters are spelled out for the reader.
pub(crate) fn write_string(text: &str, out: &mut impl Write) -> io::Result<()> {
    let text = sanitize(text);
    out.write_all(b"\"")?;
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(['"', '\\', '<']) {
        let (plain, from) = rest.split_at(at);
        out.write_all(plain.as_bytes())?;
        out.write_all(if from.starts_with('"') {
            b"\\\""
        } else if from.starts_with('\\') {
            b"\\\\"
        } else {
            b"\\u003c"
        })?;
        rest = &from[1..];
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    fn text(text: &str) -> String {
        let mut out = Vec::new();
        super::write_string(text, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_ends_the_string_or_the_element() {
        assert_eq!(text(r#"a"b\c"#), r#""a\"b\\c""#);
        assert_eq!(text("</script><!--é"), "\"\\u003c/script>\\u003c!--é\"");
        assert_eq!(text("\n\u{2028}"), r#""\\n\\u{2028}""#);
    }

    #[test]
    fn arrays_are_separated_by_commas() {
        let mut out = Vec::new();
        super::write_array(&[1, 2, 3], &mut out, |n, out| {
            std::io::Write::write_fmt(out, format_args!("{n}"))
        })
        .unwrap();
        assert_eq!(out, b"[1,2,3]");
    }
}
