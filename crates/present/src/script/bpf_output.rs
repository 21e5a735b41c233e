//! What a BPF program wrote into a sample: its bytes, and the text that they may be.

use std::io::Write;

/// Bytes in a line.
const LINE: usize = 8;

/// Appends the bytes of a sample behind its line, which they end.
pub fn write_bpf_output(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'\n');
    for (nth, line) in bytes.chunks(LINE).enumerate() {
        let title = if nth == 0 { "BPF output:" } else { "" };
        // Writing to a vector cannot fail.
        let _ = write!(out, "{title:>17} {:04x}:", nth * LINE);
        line.iter()
            .for_each(|byte| drop(write!(out, " {byte:02x}")));
        out.resize(out.len() + 3 * (LINE - line.len()), b' ');
        out.extend_from_slice(b"  ");
        out.extend(
            line.iter()
                .map(|&byte| if is_shown(byte) { byte } else { b'.' }),
        );
        out.resize(out.len() + LINE - line.len(), b' ');
        out.push(b'\n');
    }
    if let Some(text) = text(bytes) {
        let _ = write!(out, "{:>17} \"", "BPF string:");
        out.extend_from_slice(text);
        out.extend_from_slice(b"\"\n");
    }
}

/// The text that the bytes are, if nothing but zeros stands behind it.
fn text(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let (text, rest) = bytes.split_at(end);
    (text.iter().all(|&byte| is_shown(byte)) && rest.iter().all(|&byte| byte == 0)).then_some(text)
}

const fn is_shown(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_their_text() {
        let written = |bytes: &[u8]| {
            let mut out = Vec::new();
            write_bpf_output(bytes, &mut out);
            String::from_utf8(out).unwrap()
        };
        let text = "
      BPF output: 0000: 48 65 6c 6c 6f 20 42 50  Hello BP
                  0008: 46 00                    F.      
       BPF string: \"Hello BPF\"
";
        assert_eq!(
            written(b"Hello BPF\0"),
            text.replace("       BPF string", "      BPF string")
        );
        assert_eq!(
            written(b"a\x1b\xff"),
            "\n      BPF output: 0000: 61 1b ff                 a..     \n"
        );
        assert_eq!(written(b"a\0b\0").lines().count(), 2);
    }
}
