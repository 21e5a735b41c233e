//! Numbers and texts to and from bytes.

/// Appends a number, seven bits a byte, the lowest first.
pub(super) fn put_number(bytes: &mut Vec<u8>, number: usize) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Appends a text with its length before it.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len());
    bytes.extend(text.as_bytes());
}

/// Reads bytes from the front.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: bytes }
    }

    /// The number of bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        // Most are small.
        if let [byte @ ..0x80, rest @ ..] = self.rest {
            self.rest = rest;
            return Some(usize::from(*byte));
        }
        let mut number = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Bytes with their number before them.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_come_back() {
        let numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0xffff_ffff];
        let mut bytes = Vec::new();
        numbers
            .iter()
            .for_each(|number| put_number(&mut bytes, *number));
        put_text(&mut bytes, "é");
        let mut cursor = Cursor::new(&bytes);
        for number in numbers {
            assert_eq!(cursor.number(), Some(number));
        }
        assert_eq!((cursor.text(), cursor.byte()), (Some("é"), None));
        assert_eq!(Cursor::new(&[0xff; 9]).number(), None);
        assert_eq!(Cursor::new(&[9, b'x']).text(), None);
    }
}
