//! Strings of JSON: every text is kept as it is, none can end its quotes or steer a terminal.

/// Appends a text with its quotes: runs of plain bytes as they are, other characters one by one.
pub fn write(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = first_special(rest.as_bytes()) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let mut characters = special.chars();
        characters
            .by_ref()
            .take(1)
            .for_each(|first| push(first, out));
        rest = characters.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

/// The place of the first byte that is not written as it is.
fn first_special(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks::<8>();
    let plain = words.iter().take_while(|word| are_plain(**word)).count() * 8;
    let rest = text[plain..].iter().position(|byte| !is_plain(*byte));
    rest.map(|at| plain + at)
}

/// Returns whether eight bytes are all plain, looked at as one number; says no where the highest plain byte, `~`, is
/// among them.
fn are_plain(bytes: [u8; 8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x80 * ONES;
    let word = u64::from_le_bytes(bytes);
    // The top bit of a byte is set where it is below `limit`, for bytes without top bit.
    let below = |word: u64, limit: u64| word.wrapping_sub(limit * ONES) & !word;
    let is = |byte: u8| below(word ^ (u64::from(byte) * ONES), 1);
    let above = word | word.wrapping_add(2 * ONES);
    (below(word, 0x20) | is(b'"') | is(b'\\') | above) & TOPS == 0
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, 0x20..0x7f) && byte != b'"' && byte != b'\\'
}

fn push(character: char, out: &mut Vec<u8>) {
    let short: &[u8] = match character {
        '"' => b"\\\"",
        '\\' => b"\\\\",
        '\u{8}' => b"\\b",
        '\u{c}' => b"\\f",
        '\n' => b"\\n",
        '\r' => b"\\r",
        '\t' => b"\\t",
        _ if is_hidden(character) => return push_number(character, out),
        _ => return out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    out.extend_from_slice(short);
}

/// Control characters and those that change the direction of what follows.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// All characters that are hidden have numbers of 16 bits.
fn push_number(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("\\u{:04x}", u32::from(character)).as_bytes());
}

#[cfg(test)]
mod tests {
    fn written(text: &str) -> String {
        let mut out = Vec::new();
        super::write(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn nothing_ends_the_string() {
        assert_eq!(written("vec<int>"), r#""vec<int>""#);
        assert_eq!(written("a\"b\\c"), r#""a\"b\\c""#);
        assert_eq!(written("größe"), "\"größe\"");
    }

    #[test]
    fn bytes_are_plain_wherever_they_stand() {
        for byte in 0..=255u8 {
            for at in 0..8 {
                let mut bytes = *b"Az _0~}!";
                bytes[5] = b'x';
                bytes[at] = byte;
                let all = bytes.iter().all(|byte| super::is_plain(*byte));
                assert_eq!(super::are_plain(bytes), all && byte != b'~', "{byte}");
            }
        }
        let text = "a long text without any\tand \u{fc}";
        let special = super::first_special(text.as_bytes());
        assert_eq!(special, text.find('\t'));
    }

    #[test]
    fn controls_are_spelled_out() {
        assert_eq!(written("\u{8}\u{c}\n\r\t"), r#""\b\f\n\r\t""#);
        assert_eq!(
            written("\x01\x1b\x7f\u{9b}\u{202e}"),
            r#""\u0001\u001b\u007f\u009b\u202e""#
        );
    }
}
