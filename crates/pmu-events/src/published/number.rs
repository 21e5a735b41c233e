//! Numbers as tables write them.

/// A decimal number, or a hexadecimal one after `0x`.
pub(super) fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match digits {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The first number of a list between commas.
pub(super) fn first(text: &str) -> Option<u64> {
    parse(text.split(',').next().unwrap_or_default())
}

/// Numbers from 10 are hexadecimal.
pub(super) fn shown(number: u64) -> String {
    if number < 10 {
        number.to_string()
    } else {
        format!("{number:#x}")
    }
}

/// A number in its published base: decimal ones stay so.
pub(super) fn in_its_base(text: &str) -> Option<String> {
    let number = parse(text)?;
    let is_hexadecimal = text.trim().to_ascii_lowercase().starts_with("0x");
    Some(if is_hexadecimal {
        shown(number)
    } else {
        number.to_string()
    })
}
