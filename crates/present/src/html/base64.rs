//! Bytes as text that any HTML file can hold.

use std::io::{self, Write};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes taken at a time: a multiple of three, so that only the last piece is padded.
const PIECE: usize = 3 * 4096;

/// Writes bytes in the usual alphabet, with padding.
pub(crate) fn write(bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(PIECE / 3 * 4);
    for piece in bytes.chunks(PIECE) {
        text.clear();
        text.extend(piece.chunks(3).flat_map(quad));
        out.write_all(&text)?;
    }
    Ok(())
}

/// Four letters for one to three bytes.
fn quad(bytes: &[u8]) -> [u8; 4] {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let letter = |six: u8| ALPHABET[usize::from(six & 63)];
    let mut quad = [
        letter(byte(0) >> 2),
        letter(byte(0) << 4 | byte(1) >> 4),
        letter(byte(1) << 2 | byte(2) >> 6),
        letter(byte(2)),
    ];
    for pad in quad.iter_mut().skip(bytes.len() + 1) {
        *pad = b'=';
    }
    quad
}

#[cfg(test)]
mod tests {
    fn text(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        super::write(bytes, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_standards_examples() {
        let expected = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (length, expected) in expected.into_iter().enumerate() {
            assert_eq!(text(&b"foobar"[..length]), expected);
        }
        assert_eq!(text(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn long_input_is_padded_only_at_its_end() {
        let text = text(&[0; 3 * 4096 + 1]);
        assert_eq!(text.len(), 4 * 4096 + 4);
        assert_eq!(text.find('='), Some(4 * 4096 + 2));
    }
}
