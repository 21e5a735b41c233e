//! Pieces of text that several outputs share: safe names, padded columns, numbers, dates, and the words for flags.

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
        use std::io::Write;
        let _ = write!($out, $($text)*);
    }};
}
pub(crate) use put;

/// Appends a name from the file without what would steer a terminal.
pub(crate) fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(sanitize(&String::from_utf8_lossy(name)).as_bytes());
}
