//! Pieces that many records' texts are made of.

use oxperf_wire::WireError;

use crate::text::number::{push_hex, push_number};
use crate::text::sanitize;

/// What a record's text can fail with.
pub(super) type Text = Result<(), WireError>;

/// Appends formatted text; a buffer in memory takes everything.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {{
        use std::io::Write;
        let _ = write!($out, $($text)*);
    }};
}
pub(super) use put;

/// Appends a number in hexadecimal behind `0x`; zero stands alone.
pub(super) fn push_prefixed(out: &mut Vec<u8>, value: u64) {
    if value == 0 {
        return out.push(b'0');
    }
    out.extend_from_slice(b"0x");
    push_hex(out, value, 1);
}

/// Appends all sixteen digits.
pub(super) fn push_word(out: &mut Vec<u8>, value: u64) {
    for shift in (0..16).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * shift) & 15) as usize]);
    }
}

/// Appends a decimal number.
pub(super) fn push_decimal(out: &mut Vec<u8>, value: u64) {
    push_number(out, value, 0, b' ');
}

/// Appends a signed decimal number.
pub(super) fn push_signed(out: &mut Vec<u8>, value: i32) {
    if value < 0 {
        out.push(b'-');
    }
    push_decimal(out, value.unsigned_abs().into());
}

/// Appends a name from the file without what would steer a terminal.
pub(super) fn push_name(out: &mut Vec<u8>, name: &[u8]) {
    out.extend_from_slice(sanitize(&String::from_utf8_lossy(name)).as_bytes());
}
