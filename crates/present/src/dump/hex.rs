//! The hex dump of a record's bytes.
//!
//! This is where nearly all time of a dump goes: rows are filled in from tables, never formatted.

/// Bytes in a row.
const ROW: usize = 16;
/// Digits and the blank before them, for each byte.
const CELLS: usize = ROW * 3;
/// `.  0000: `
const PLACE: usize = 9;
/// The place, the cells, two blanks, the characters, the line's end.
const FULL_ROW: usize = PLACE + CELLS + 2 + ROW + 1;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// ` 00` to ` ff`.
const CELL: [[u8; 3]; 256] = {
    let mut table = [[b' '; 3]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [b' ', DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    table
};

/// Each byte as it is shown beside its digits.
const SHOWN: [u8; 256] = {
    let mut table = [b'.'; 256];
    let mut byte = 0x20;
    while byte < 0x7f {
        table[byte] = byte as u8;
        byte += 1;
    }
    table
};

/// Appends the rows of `header` and `body`, which follow each other in the record.
pub(super) fn write(header: [u8; 8], body: &[u8], out: &mut Vec<u8>) {
    let mut first = [0; ROW];
    let taken = body.len().min(ROW - header.len());
    first[..header.len()].copy_from_slice(&header);
    first[header.len()..header.len() + taken].copy_from_slice(&body[..taken]);
    row(0, &first[..header.len() + taken], out);
    let mut offset = ROW;
    let mut rows = body[taken..].chunks_exact(ROW);
    for bytes in &mut rows {
        row(offset, bytes, out);
        offset += ROW;
    }
    if !rows.remainder().is_empty() {
        row(offset, rows.remainder(), out);
    }
}

/// Appends one row of up to 16 bytes.
#[inline]
fn row(offset: usize, bytes: &[u8], out: &mut Vec<u8>) {
    let mut line = [b' '; FULL_ROW];
    let digit = |shift: u32| DIGITS[offset >> shift & 15];
    line[3..PLACE - 1].copy_from_slice(&[digit(12), digit(8), digit(4), digit(0), b':']);
    line[0] = b'.';
    let (cells, shown) = line[PLACE..].split_at_mut(CELLS + 2);
    for ((byte, cell), shown) in bytes.iter().zip(cells.chunks_exact_mut(3)).zip(shown) {
        cell.copy_from_slice(&CELL[usize::from(*byte)]);
        *shown = SHOWN[usize::from(*byte)];
    }
    line[FULL_ROW - 1] = b'\n';
    if offset > 0xffff {
        // Only records of simpleperf are this long.
        let text = format!(".  {offset:04x}: ");
        out.extend_from_slice(text.as_bytes());
        return out.extend_from_slice(&line[PLACE..]);
    }
    out.extend_from_slice(&line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &[u8]) -> String {
        let mut out = Vec::new();
        write([9, 0, 0, 0, 0, 0, 8, 0], body, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_full_or_filled_with_blanks() {
        let half = ".  0000:  09 00 00 00 00 00 08 00                          ........        \n";
        assert_eq!(text(&[]), half);
        let full = ".  0000:  09 00 00 00 00 00 08 00 41 7f 20 7e 0a 00 ff 80  ........A. ~....\n";
        assert_eq!(text(&[0x41, 0x7f, 0x20, 0x7e, 10, 0, 0xff, 0x80]), full);
        let more = ".  0010:  7a                                               z               \n";
        assert_eq!(
            text(&[&[0x41, 0x7f, 0x20, 0x7e, 10, 0, 0xff, 0x80], &b"z"[..]].concat()),
            [full, more].concat()
        );
    }

    #[test]
    fn long_records_need_more_digits() {
        let last = text(&vec![0; 0x1_0000]).lines().last().unwrap().to_owned();
        assert!(last.starts_with(".  10000:  00 00"), "{last}");
    }
}
