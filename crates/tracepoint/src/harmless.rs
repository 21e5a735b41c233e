//! Text from a record or a file, written so that a terminal cannot be driven by it.

/// Appends `text` with its control characters as `\n`, `\x1b` and the like; a tab stays.
///
/// Bytes that are no UTF-8 stay too, except those which old terminals take for control characters (0x80 to 0x9f).
pub(crate) fn append(out: &mut Vec<u8>, text: &[u8]) {
    if text.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        return out.extend_from_slice(text);
    }
    for chunk in text.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|character| append_char(out, character));
        chunk
            .invalid()
            .iter()
            .for_each(|&byte| append_stray(out, byte));
    }
}

/// Appends one byte as if it was a text of its own.
pub(crate) fn append_byte(out: &mut Vec<u8>, byte: u8) {
    append(out, &[byte]);
}

fn append_char(out: &mut Vec<u8>, character: char) {
    match character {
        '\t' => out.push(b'\t'),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        _ if character.is_control() => append_escape(out, u32::from(character) as u8),
        _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

fn append_stray(out: &mut Vec<u8>, byte: u8) {
    match byte {
        0x80..=0x9f => append_escape(out, byte),
        _ => out.push(byte),
    }
}

fn append_escape(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS[usize::from(nibble & 15)];
    out.extend_from_slice(&[b'\\', b'x', digit(byte >> 4), digit(byte)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmless(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        append(&mut out, text);
        out
    }

    #[test]
    fn control_characters_lose_their_power() {
        assert_eq!(harmless(b"a\x1b[31m\x07\n\x7f"), b"a\\x1b[31m\\x07\\n\\x7f");
        assert_eq!(harmless("\u{9b}31m".as_bytes()), b"\\x9b31m");
        assert_eq!(harmless(b"\x9b31m"), b"\\x9b31m");
    }

    #[test]
    fn names_in_any_language_stay() {
        assert_eq!(harmless("größe\t".as_bytes()), "größe\t".as_bytes());
        assert_eq!(harmless(b"gr\xf6\xdfe"), b"gr\xf6\xdfe");
    }
}
