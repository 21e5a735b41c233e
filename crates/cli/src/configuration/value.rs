//! Values of configuration files as numbers and switches, in perf's words.

/// `true`, `yes`, `on`, `false`, `no`, `off` in any case, or a number.
pub(super) fn flag(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(["true", "yes", "on"]) {
        Some(true)
    } else if text.is_empty() || is_one_of(["false", "no", "off"]) {
        Some(false)
    } else {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        number(digits).map(|number| negative || number != 0)
    }
}

/// A whole number in decimal, octal (`0..`) or hexadecimal (`0x..`), with a unit `k`, `m` or `g` of 1024 each.
pub(super) fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 1 << 10),
        b'm' => (&text[..text.len() - 1], 1 << 20),
        b'g' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1_u64),
    };
    let number = if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    number.ok()?.checked_mul(unit)
}

/// The decimal number that a text begins with.
pub(super) fn leading_decimal(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let belongs = |(at, letter): &(usize, char)| {
        letter.is_ascii_digit() || *letter == '.' || *at == 0 && matches!(letter, '-' | '+')
    };
    let length = text.char_indices().take_while(belongs).count();
    text[..length].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers() {
        assert_eq!(["yes", "On", "1", "-1", "2k"].map(flag), [Some(true); 5]);
        assert_eq!(["no", "OFF", "0", "", "false"].map(flag), [Some(false); 5]);
        assert_eq!(["maybe", "1x", "-"].map(flag), [None; 3]);
        assert_eq!(
            ["10", "0x10", "010", "1m"].map(number),
            [10, 16, 8, 1 << 20].map(Some)
        );
        assert_eq!(
            ["", "x", "k", "99999999999999999999", "ü"].map(number),
            [None; 5]
        );
        assert_eq!(
            ["5", " 0.5%", "-1", "5.5.5"].map(leading_decimal),
            [Some(5.0), Some(0.5), Some(-1.0), None]
        );
    }
}
