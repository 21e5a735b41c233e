//! A line of the dump before it goes out: as most lines are short, one copy of fixed size takes less time than a copy
//! for each part.

use super::number::PAIRS;

/// Bytes that a line of a short packet has at most: its columns, a name, 0x, 16 digits and the end of the line.
const ROOM: usize = 96;

/// The first column of bytes.
const FIRST: usize = 14;

const EMPTY: &[u8; COLUMNS] = b".  00000000:                                                  ";

/// The column behind the bytes, the first of the words.
const COLUMNS: usize = FIRST + 3 * 16;

/// The offset of a packet and its bytes, and the words behind them as far as they fit.
pub(super) struct Line {
    text: [u8; ROOM],
    length: usize,
    /// The part of the offset that does not fit into eight digits.
    high: u64,
}

impl Line {
    /// The columns: of bytes there are at most 16.
    #[inline]
    pub(super) fn new(offset: u64, bytes: &[u8]) -> Line {
        let mut text = [b' '; ROOM];
        text[..COLUMNS].copy_from_slice(EMPTY);
        set_offset(&mut text, offset as u32);
        let (columns, _) = text[FIRST..COLUMNS].as_chunks_mut::<3>();
        for (column, &byte) in columns.iter_mut().zip(bytes) {
            let [high, low] = PAIRS[usize::from(byte)];
            *column = [high, low, b' '];
        }
        Line {
            text,
            length: COLUMNS,
            high: offset >> 32,
        }
    }

    /// The line of a TNT packet of one byte.
    #[inline]
    pub(super) fn of_outcomes(offset: usize, byte: u8) -> Line {
        let (mut text, length) = OF_OUTCOMES[usize::from(byte >> 1)];
        set_offset(&mut text, offset as u32);
        Line {
            text,
            length: usize::from(length),
            high: offset as u64 >> 32,
        }
    }

    /// Appends words.
    #[inline]
    pub(super) fn push(&mut self, words: &[u8]) {
        self.text[self.length..][..words.len()].copy_from_slice(words);
        self.length += words.len();
    }

    /// Appends `value` in hexadecimal without leading zeros.
    #[inline]
    pub(super) fn push_hex(&mut self, value: u64) {
        // Behind the digits there is room for as many again, so that what is copied has one size.
        let mut digits = [0; 32];
        for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(value.to_be_bytes()) {
            *pair = PAIRS[usize::from(byte)];
        }
        let zeros = (value | 1).leading_zeros() as usize / 4;
        self.text[self.length..][..16].copy_from_slice(&digits[zeros..][..16]);
        self.length += 16 - zeros;
    }

    /// Appends the line to `out`.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.high != 0 {
            return self.write_far(out);
        }
        let end = out.len() + self.length;
        out.extend_from_slice(&self.text);
        out.truncate(end);
    }

    #[cold]
    fn write_far(&self, out: &mut Vec<u8>) {
        const DIGITS: usize = 3;
        out.extend_from_slice(&self.text[..DIGITS]);
        super::number::hex(self.high, out);
        out.extend_from_slice(&self.text[DIGITS..self.length]);
    }
}

#[inline]
fn set_offset(text: &mut [u8; ROOM], offset: u32) {
    let (digits, _) = text[3..11].as_chunks_mut();
    for (digits, byte) in digits.iter_mut().zip(offset.to_be_bytes()) {
        *digits = PAIRS[usize::from(byte)];
    }
}

/// The line at offset 0 of each TNT packet of one byte, by its upper seven bits, and its length.
static OF_OUTCOMES: [([u8; ROOM], u8); 128] = {
    let mut lines = [([b' '; ROOM], 0); 128];
    let mut stopped = 2;
    while stopped < lines.len() {
        lines[stopped] = of_outcomes(stopped as u8);
        stopped += 1;
    }
    lines
};

/// The outcomes below the stop bit of `stopped`.
const fn of_outcomes(stopped: u8) -> ([u8; ROOM], u8) {
    let mut text = [b' '; ROOM];
    let mut at = 0;
    while at < COLUMNS {
        text[at] = EMPTY[at];
        at += 1;
    }
    let count = stopped.ilog2() as u8;
    [text[FIRST], text[FIRST + 1]] = PAIRS[(stopped << 1) as usize];
    (text[at], text[at + 1], text[at + 2]) = (b'T', b'N', b'T');
    at += 4;
    let mut left = count;
    while left != 0 {
        left -= 1;
        text[at] = if stopped >> left & 1 == 1 { b'T' } else { b'N' };
        at += 1;
    }
    (text[at + 1], text[at + 2], text[at + 3], text[at + 4]) = (b'(', b'0' + count, b')', b'\n');
    (text, at as u8 + 5)
}
