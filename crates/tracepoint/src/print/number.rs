//! Digits, padding and signs, as printf writes them.

use super::directive::Layout;

/// Appends `value` in decimal.
pub(super) fn decimal(out: &mut Vec<u8>, value: u64) {
    digits(out, value, 10, b'a');
}

/// Appends `value` in lower-case hexadecimal.
pub(super) fn hex(out: &mut Vec<u8>, value: u64) {
    digits(out, value, 16, b'a');
}

/// Appends a byte as two hexadecimal digits.
pub(super) fn hex_byte(out: &mut Vec<u8>, byte: u8) {
    hex(out, u64::from(byte >> 4));
    hex(out, u64::from(byte & 15));
}

/// Appends `value` in hexadecimal with at least `width` digits.
pub(super) fn hex_wide(out: &mut Vec<u8>, value: u64, width: usize) {
    let start = out.len();
    hex(out, value);
    insert(out, start, b'0', width.saturating_sub(out.len() - start));
}

fn digits(out: &mut Vec<u8>, mut value: u64, radix: u64, ten: u8) {
    let mut buffer = [0; 22];
    let mut used = 0;
    for place in buffer.iter_mut().rev() {
        let digit = (value % radix) as u8;
        *place = if digit < 10 {
            b'0' + digit
        } else {
            ten + digit - 10
        };
        value /= radix;
        used += 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(buffer.get(buffer.len() - used..).unwrap_or_default());
}

/// The spelling of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    /// 8, 10 or 16.
    pub(super) radix: u64,
    pub(super) upper: bool,
    /// `-`, `+`, ` ` or nothing.
    pub(super) sign: &'static [u8],
}

/// Appends `value` padded by `layout`.
pub(super) fn padded(out: &mut Vec<u8>, value: u64, spelling: Spelling, layout: &Layout) {
    let start = out.len();
    out.extend_from_slice(spelling.sign);
    out.extend_from_slice(prefix(value, spelling, layout));
    let first_digit = out.len();
    if value != 0 || layout.precision != Some(0) {
        digits(
            out,
            value,
            spelling.radix,
            if spelling.upper { b'A' } else { b'a' },
        );
    }
    let missing = layout
        .precision
        .unwrap_or(0)
        .saturating_sub(out.len() - first_digit);
    insert(out, first_digit, b'0', missing);
    if layout.zeros && !layout.left && layout.precision.is_none() {
        insert(
            out,
            first_digit,
            b'0',
            layout.width.saturating_sub(out.len() - start),
        );
    }
    pad(out, start, layout);
}

fn prefix(value: u64, spelling: Spelling, layout: &Layout) -> &'static [u8] {
    match (
        layout.alternate && value != 0,
        spelling.radix,
        spelling.upper,
    ) {
        (true, 16, false) => b"0x",
        (true, 16, true) => b"0X",
        (true, 8, _) => b"0",
        _ => b"",
    }
}

/// Fills what was appended since `start` up to the width, with spaces.
pub(super) fn pad(out: &mut Vec<u8>, start: usize, layout: &Layout) {
    let missing = layout.width.saturating_sub(out.len() - start);
    let at = if layout.left { out.len() } else { start };
    insert(out, at, b' ', missing);
}

fn insert(out: &mut Vec<u8>, at: usize, byte: u8, count: usize) {
    if count > 0 {
        let end = out.len();
        out.resize(end + count, byte);
        if at < end {
            out.copy_within(at..end, at + count);
            out.iter_mut()
                .skip(at)
                .take(count)
                .for_each(|place| *place = byte);
        }
    }
}
