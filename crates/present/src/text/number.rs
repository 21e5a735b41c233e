//! Numbers and blanks appended to bytes, without the cost of `format!`.

/// Appends `count` blanks.
pub fn pad(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len() + count, b' ');
}

/// Appends a number, filled from the left to `width`.
pub fn push_number(out: &mut Vec<u8>, mut value: u64, width: usize, fill: u8) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    let digits = &digits[start..];
    out.resize(out.len() + width.saturating_sub(digits.len()), fill);
    out.extend_from_slice(digits);
}

/// Appends a number in hexadecimal, blank filled to `width`, which is at most 16.
#[inline]
pub fn push_hex(out: &mut Vec<u8>, value: u64, width: usize) {
    let text = hex(value);
    match width {
        16 => out.extend_from_slice(&text),
        _ => {
            let digits = (16 - value.leading_zeros() as usize / 4).max(1);
            out.extend_from_slice(&text[16 - digits.max(width.min(16))..]);
        }
    }
}

/// Appends a number in hexadecimal behind `0x`; zero stands alone.
pub fn push_prefixed(out: &mut Vec<u8>, value: u64) {
    if value == 0 {
        return out.push(b'0');
    }
    out.extend_from_slice(b"0x");
    push_hex(out, value, 1);
}

/// Appends all sixteen digits.
pub fn push_word(out: &mut Vec<u8>, value: u64) {
    for shift in (0..16).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * shift) & 15) as usize]);
    }
}

/// Appends a decimal number.
pub fn push_decimal(out: &mut Vec<u8>, value: u64) {
    push_number(out, value, 0, b' ');
}

/// Appends a signed decimal number.
pub fn push_signed(out: &mut Vec<u8>, value: i32) {
    if value < 0 {
        out.push(b'-');
    }
    push_decimal(out, value.unsigned_abs().into());
}

/// A number in hexadecimal behind blanks: eight digits at a time, a byte for each.
#[inline]
pub fn hex(value: u64) -> [u8; 16] {
    let digits =
        u128::from(hex_digits((value >> 32) as u32)) << 64 | u128::from(hex_digits(value as u32));
    let blanks = (value.leading_zeros() / 4).min(15) * 8;
    let shown = u128::MAX >> blanks;
    (digits & shown | u128::from_be_bytes([b' '; 16]) & !shown).to_be_bytes()
}

/// The digits of a number, the first in the highest byte.
#[inline]
fn hex_digits(value: u32) -> u64 {
    let mut digits = u64::from(value);
    digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff;
    digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff;
    digits = (digits | digits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // Six more and a digit above nine has a bit above its four.
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    digits + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'9' - 1)
}

/// A number as C's `%G` writes it: six digits that matter, no zeros behind them, `E` for large and small ones.
pub fn general(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let rounded = format!("{value:.5e}");
    let (digits, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return without_zeros(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}E{sign}{:02}", without_zeros(digits), exponent.abs())
}

/// A decimal number without zeros at its end.
fn without_zeros(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hexadecimal_numbers_fill_their_width() {
        let hex = |value, width| text(|out| push_hex(out, value, width));
        assert_eq!(hex(0xffff_ffff_8157_a541, 16), "ffffffff8157a541");
        assert_eq!(
            (hex(0x1f, 1), hex(0, 1), hex(0, 3)),
            ("1f".into(), "0".into(), "  0".into())
        );
        assert_eq!(hex(0x7f00_0000_1234, 16), "    7f0000001234");
        assert_eq!(hex(0x0123_4567_89ab_cdef, 16), " 123456789abcdef");
        assert_eq!(hex(0, 16), "               0");
    }

    #[test]
    fn general_numbers_are_those_of_c() {
        for (value, text) in [
            (1e-6, "1E-06"),
            (64.0, "64"),
            (100.0, "100"),
            (6.103515625e-5, "6.10352E-05"),
            (0.0001, "0.0001"),
            (2.3283064365386963e-10, "2.32831E-10"),
            (999999.5, "1E+06"),
            (0.5, "0.5"),
            (0.0, "0"),
        ] {
            assert_eq!(general(value), text);
        }
    }
}
