//! Numbers as filters of addresses write them: decimal, octal after `0`, hexadecimal after `0x`.

/// A number at the beginning of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// Its value, and the number of bytes that it takes.
    Value(u64, usize),
    /// It has more than 64 bits.
    TooLarge,
}

/// Reads the number that a text begins with; what follows is not looked at. `None` without a digit.
pub(super) fn leading(text: &str) -> Option<Number> {
    let (radix, prefix) = match text.as_bytes() {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, 2),
        [b'0', ..] => (8, 0),
        _ => (10, 0),
    };
    let digits = &text[prefix..];
    let end = digits.find(|c: char| !c.is_digit(radix));
    let digits = &digits[..end.unwrap_or(digits.len())];
    if digits.is_empty() {
        return None;
    }
    Some(match u64::from_str_radix(digits, radix) {
        Ok(value) => Number::Value(value, prefix + digits.len()),
        Err(_) => Number::TooLarge,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_no_digit_follows() {
        let cases = [
            ("12abc", 12, 2),
            ("010/4", 8, 3),
            ("09", 0, 1),
            ("0xFfg", 255, 4),
            ("0x", 0, 1),
            ("0", 0, 1),
            ("18446744073709551615", u64::MAX, 20),
        ];
        for (text, value, length) in cases {
            assert_eq!(leading(text), Some(Number::Value(value, length)), "{text}");
        }
        for text in ["18446744073709551616", "0x10000000000000000"] {
            assert_eq!(leading(text), Some(Number::TooLarge), "{text}");
        }
        for text in ["", "-1", "x", "é1"] {
            assert_eq!(leading(text), None, "{text}");
        }
    }
}
