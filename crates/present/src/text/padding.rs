//! Text filled up to the width of a column, whatever that is: the widths of `format!` end at 65,535, and names from
//! recordings may be longer.

use std::fmt::{self, Display, Formatter, Write};

use super::number::pad;

/// Blanks that are written at once.
const BLANKS: &str = "                                                                ";

/// So many blanks.
#[derive(Clone, Copy, Debug)]
pub struct Blanks(pub usize);

impl Display for Blanks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut left = self.0;
        while left > 0 {
            let count = left.min(BLANKS.len());
            f.write_str(BLANKS.get(..count).unwrap_or(BLANKS))?;
            left -= count;
        }
        Ok(())
    }
}

/// Appends a text at the left of a column of so many characters.
pub(crate) fn push_left(out: &mut Vec<u8>, text: &str, width: usize) {
    out.extend_from_slice(text.as_bytes());
    pad(out, width.saturating_sub(text.chars().count()));
}

/// Appends a text at the right of a column of so many characters.
pub(crate) fn push_right(out: &mut Vec<u8>, text: &str, width: usize) {
    pad(out, width.saturating_sub(text.chars().count()));
    out.extend_from_slice(text.as_bytes());
}

/// A value at the left of a column of so many characters.
#[derive(Clone, Copy, Debug)]
pub struct Left<T>(pub T, pub usize);

impl<T: Display> Display for Left<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut counted = Counted { inner: f, count: 0 };
        write!(counted, "{}", self.0)?;
        let blanks = self.1.saturating_sub(counted.count);
        Blanks(blanks).fmt(f)
    }
}

/// A value at the right of a column of so many characters.
#[derive(Clone, Copy, Debug)]
pub struct Right<T>(pub T, pub usize);

impl<T: Display> Display for Right<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut counted = Counted {
            inner: &mut Nowhere,
            count: 0,
        };
        write!(counted, "{}", self.0)?;
        Blanks(self.1.saturating_sub(counted.count)).fmt(f)?;
        self.0.fmt(f)
    }
}

/// A number with zeros before it, so many digits in all.
#[derive(Clone, Copy, Debug)]
pub struct Zeroed<T>(pub T, pub usize);

impl<T: Display> Display for Zeroed<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut counted = Counted {
            inner: &mut Nowhere,
            count: 0,
        };
        write!(counted, "{}", self.0)?;
        (counted.count..self.1).try_for_each(|_| f.write_char('0'))?;
        self.0.fmt(f)
    }
}

/// The first characters of a text, at most so many.
pub fn first(text: &str, width: usize) -> &str {
    text.char_indices()
        .nth(width)
        .map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// Counts the characters that pass.
struct Counted<'w, W> {
    inner: &'w mut W,
    count: usize,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.count += text.chars().count();
        self.inner.write_str(text)
    }
}

/// Takes everything.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_columns_are_those_of_format() {
        for (text, width) in [
            ("", 0),
            ("", 3),
            ("añb", 2),
            ("añb", 3),
            ("añb", 9),
            ("x", 70),
        ] {
            assert_eq!(Left(text, width).to_string(), format!("{text:<width$}"));
            assert_eq!(Right(text, width).to_string(), format!("{text:>width$}"));
            assert_eq!(first(text, width), format!("{text:.width$}"));
            let mut out = Vec::new();
            push_left(&mut out, text, width);
            push_right(&mut out, text, width);
            let expected = format!("{text:<width$}{text:>width$}");
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        for (number, width) in [(0, 0), (0, 4), (999, 2), (1000, 4), (u64::MAX, 25)] {
            assert_eq!(
                Zeroed(number, width).to_string(),
                format!("{number:0width$}")
            );
        }
        assert_eq!(Right(format_args!("{:.2}", 1.0), 6).to_string(), "  1.00");
    }

    #[test]
    fn columns_have_any_width() {
        let width = usize::from(u16::MAX) + 10;
        assert_eq!(
            Left("x", width).to_string(),
            format!("x{}", " ".repeat(width - 1))
        );
        assert_eq!(
            Right("x", width).to_string(),
            format!("{}x", " ".repeat(width - 1))
        );
        assert_eq!(
            Zeroed(7, width).to_string(),
            format!("{}7", "0".repeat(width - 1))
        );
        assert_eq!(first(&"x".repeat(2 * width), width).len(), width);
    }
}
