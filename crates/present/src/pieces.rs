//! Long text made by several workers and written in order.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

/// Items of a piece: enough for a good write, few enough for many pieces.
const PIECE: usize = 2048;

/// Writes the text of `count` items. `make` appends that of a range of them; it is called for pieces of the whole, by
/// several workers, while earlier pieces are written.
pub(crate) fn write_in_order(
    out: &mut dyn Write,
    count: usize,
    make: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let pieces: Vec<Range<usize>> =
        (0..count).step_by(PIECE).map(|start| start..count.min(start + PIECE)).collect();
    let together = rayon::current_num_threads() * 4;
    let mut made: Vec<Vec<u8>> = Vec::new();
    let mut next: Vec<Vec<u8>> = vec![Vec::new(); together.min(pieces.len())];
    for pieces in pieces.chunks(together) {
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                next.par_iter_mut().zip(pieces).for_each(|(text, piece)| make(piece.clone(), text));
            });
            write_all(out, &mut made)
        })?;
        std::mem::swap(&mut made, &mut next);
        next.resize(together.min(made.len()), Vec::new());
    }
    write_all(out, &mut made)
}

/// Writes texts out and empties them.
fn write_all(out: &mut dyn Write, texts: &mut [Vec<u8>]) -> io::Result<()> {
    texts.iter_mut().try_for_each(|text| {
        out.write_all(text)?;
        text.clear();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_in_order() {
        for count in [0, 1, PIECE, 100 * PIECE + 7] {
            let mut text = Vec::new();
            let make = |range: Range<usize>, text: &mut Vec<u8>| {
                range.for_each(|item| text.extend_from_slice(format!("{item} ").as_bytes()));
            };
            write_in_order(&mut text, count, make).unwrap();
            let expected: String = (0..count).map(|item| format!("{item} ")).collect();
            assert_eq!(text, expected.as_bytes());
        }
    }

    #[test]
    fn a_reader_that_leaves_ends_the_work() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let result = write_in_order(&mut Closed, 10 * PIECE, |_, text| text.push(b'x'));
        assert_eq!(result.map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
    }
}
