//! Strings of JSON: every text is kept as it is, none can end its quotes or steer a terminal.

/// Appends a text with its quotes.
pub fn write(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    match text.bytes().all(is_plain) {
        true => out.extend_from_slice(text.as_bytes()),
        false => text.chars().for_each(|character| push(character, out)),
    }
    out.push(b'"');
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
    fn controls_are_spelled_out() {
        assert_eq!(written("\u{8}\u{c}\n\r\t"), r#""\b\f\n\r\t""#);
        assert_eq!(
            written("\x01\x1b\x7f\u{9b}\u{202e}"),
            r#""\u0001\u001b\u007f\u009b\u202e""#
        );
    }
}
