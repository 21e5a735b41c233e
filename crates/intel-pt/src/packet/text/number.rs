//! Numbers as text, appended.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Both digits of each byte.
pub(super) const PAIRS: [[u8; 2]; 256] = {
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Appends `value` in hexadecimal without leading zeros.
#[inline]
pub(super) fn hex(value: u64, out: &mut Vec<u8>) {
    let mut text = [0; 16];
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(value.to_be_bytes()) {
        *pair = PAIRS[usize::from(byte)];
    }
    let zeros = (value | 1).leading_zeros() as usize / 4;
    out.extend_from_slice(&text[zeros..]);
}

/// Appends `name`, 0x and `value` in hexadecimal.
#[inline]
pub(super) fn named_hex(name: &str, value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"0x");
    hex(value, out);
}

/// Appends `name` and `value` in decimal.
pub(super) fn named(name: &str, value: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    let digits = [value / 100, value / 10 % 10, value % 10].map(|digit| b'0' + digit);
    let zeros = usize::from(value < 100) + usize::from(value < 10);
    out.extend_from_slice(&digits[zeros..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_left_out() {
        for (value, text) in [
            (0, "0"),
            (0xf, "f"),
            (0x10, "10"),
            (u64::MAX, "ffffffffffffffff"),
            (0xabc, "abc"),
        ] {
            let mut out = Vec::new();
            hex(value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn decimals_are_what_the_library_writes() {
        for value in 0..=u8::MAX {
            let mut out = Vec::new();
            named("n ", value, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("n {value}"));
        }
    }
}
