//! Pieces of text that several outputs share: safe names, padded columns, numbers, dates, and the words for flags.

use std::fmt;

pub mod attr_text;
pub mod branch_text;
pub mod calendar;
pub mod mem_text;
pub mod number;
pub mod open_text;
pub mod padding;
mod sanitize;
pub mod source_line;
pub mod unit;

pub use sanitize::sanitize;

/// Appends formatted text; a buffer in memory takes everything.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {{
        use $crate::text::PutText;
        $out.put_text(format_args!($($text)*));
    }};
}
pub(crate) use put;

/// A buffer in memory that formatted text is appended to.
pub(crate) trait PutText {
    /// Appends text.
    fn put_text(&mut self, text: fmt::Arguments<'_>);
}

impl PutText for Vec<u8> {
    fn put_text(&mut self, text: fmt::Arguments<'_>) {
        // A buffer in memory takes everything.
        let _ = fmt::Write::write_fmt(&mut Appended(self), text);
    }
}

/// Takes text and single characters without a way through a writer that may fail: columns are filled up character by
/// character.
struct Appended<'o>(&'o mut Vec<u8>);

impl fmt::Write for Appended<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    #[inline]
    fn write_char(&mut self, character: char) -> fmt::Result {
        if character.is_ascii() {
            self.0.push(character as u8);
            return Ok(());
        }
        self.write_str(character.encode_utf8(&mut [0; 4]))
    }
}

/// Appends a name from the file without what would steer a terminal.
pub(crate) fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(sanitize(&String::from_utf8_lossy(name)).as_bytes());
}
