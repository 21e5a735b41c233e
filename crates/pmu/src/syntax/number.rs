//! Numbers as event texts write them.

/// Decimal, or hexadecimal after `0x`. A leading 0 is decimal, as in perf.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => parse_hexadecimal(digits),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

/// `rHEX`.
pub(crate) fn parse_raw(text: &str) -> Option<u64> {
    parse_hexadecimal(text.strip_prefix('r')?)
}

/// `rHEX` or `r0xHEX`, as between slashes.
pub(crate) fn parse_raw_term(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('r')?;
    parse_hexadecimal(digits.strip_prefix("0x").unwrap_or(digits))
}

fn parse_hexadecimal(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain
        .then(|| u64::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(parse_number("010"), Some(10));
        assert_eq!(parse_number("0xC0"), Some(0xc0));
        for text in [
            "",
            "0x",
            "-1",
            "+1",
            "1k",
            "0x1ffffffffffffffff",
            "99999999999999999999",
        ] {
            assert_eq!(parse_number(text), None, "{text}");
        }
        assert_eq!(parse_raw("r1a8"), Some(0x1a8));
        assert_eq!(parse_raw("rzz"), None);
        assert_eq!(parse_raw("r"), None);
        assert_eq!(parse_raw("r0x1a8"), None);
        assert_eq!(parse_raw_term("r0x1a8"), Some(0x1a8));
        assert_eq!(parse_raw_term("r1a8"), Some(0x1a8));
    }
}
