//! The page's template and text inside HTML.

use std::io::{self, Write};

use crate::text::sanitize;

/// A part of the template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Markup that stays as it is.
    Text(&'a str),
    /// The name in a mark `<!--@name-->`, to be replaced.
    Mark(&'a str),
}

/// Splits a template at its marks, once: what is put in is never looked at again.
pub(crate) fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    template
        .split("<!--@")
        .enumerate()
        .flat_map(|(index, part)| match part.split_once("-->") {
            Some((mark, text)) if index > 0 => vec![Piece::Mark(mark), Piece::Text(text)],
            _ => vec![Piece::Text(part)],
        })
}

/// Writes text that HTML shows as it is.
pub(crate) fn write_text(text: &str, out: &mut impl Write) -> io::Result<()> {
    for c in sanitize(text).chars() {
        match c {
            '&' => out.write_all(b"&amp;")?,
            '<' => out.write_all(b"&lt;")?,
            '>' => out.write_all(b"&gt;")?,
            '"' => out.write_all(b"&quot;")?,
            '\'' => out.write_all(b"&#39;")?,
            c => write!(out, "{c}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_text_and_marks() {
        let pieces: Vec<_> = pieces("a<!--@one-->b<!-- c --><!--@two-->").collect();
        let (a, b, end) = (
            Piece::Text("a"),
            Piece::Text("b<!-- c -->"),
            Piece::Text(""),
        );
        assert_eq!(pieces, [a, Piece::Mark("one"), b, Piece::Mark("two"), end]);
    }

    #[test]
    fn markup_in_text_is_shown_not_obeyed() {
        let mut out = Vec::new();
        write_text("<b title='x'>\"&\"\u{1b}", &mut out).unwrap();
        assert_eq!(out, b"&lt;b title=&#39;x&#39;&gt;&quot;&amp;&quot;\\x1b");
    }
}
