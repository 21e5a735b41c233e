//! Long text made by several workers and written in order.

use std::io::{self, Write};
use std::ops::Range;

use rayon::prelude::*;

/// Most items of a piece: enough for a good write, few enough for many pieces.
const PIECE: usize = 2048;
/// Fewest, as long as nobody knows how long their text is: a row may have a large graph.
const FEWEST: usize = 32;
/// So much text of a piece is enough for a good write, too.
const TEXT: usize = 256 << 10;

/// Writes the text of `count` items. `make` appends that of a range of them; it is called for pieces of the whole, by
/// several workers, while earlier pieces are written.
pub(crate) fn write_in_order(
    out: &mut dyn Write,
    count: usize,
    make: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    let together = rayon::current_num_threads() * 4;
    let (mut made, mut next): (Vec<Vec<u8>>, Vec<Vec<u8>>) = Default::default();
    let (mut start, mut each) = (0, FEWEST);
    while start < count {
        let end = count.min(start + each * together);
        let pieces: Vec<Range<usize>> = (start..end)
            .step_by(each)
            .map(|start| start..end.min(start + each))
            .collect();
        next.resize(pieces.len(), Vec::new());
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                next.par_iter_mut()
                    .zip(pieces)
                    .for_each(|(text, piece)| make(piece, text));
            });
            write_all(out, &mut made)
        })?;
        std::mem::swap(&mut made, &mut next);
        each = items_of_piece(end - start, made.iter().map(Vec::len).sum());
        start = end;
    }
    write_all(out, &mut made)
}

/// Items of the next pieces, given how much text so many others had.
fn items_of_piece(items: usize, bytes: usize) -> usize {
    (TEXT * items / bytes.max(1)).clamp(FEWEST, PIECE)
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
    fn long_texts_make_short_pieces() {
        let longest = std::sync::atomic::AtomicUsize::new(0);
        let make = |range: Range<usize>, text: &mut Vec<u8>| {
            longest.fetch_max(range.len(), std::sync::atomic::Ordering::Relaxed);
            range.for_each(|_| text.extend_from_slice(&[b'x'; 16 << 10]));
        };
        write_in_order(&mut io::sink(), 2 * PIECE, make).unwrap();
        assert_eq!(longest.into_inner(), FEWEST);
        assert_eq!(
            [(100, 100), (100, 0), (256, 1 << 20)].map(|(n, bytes)| items_of_piece(n, bytes)),
            [PIECE, PIECE, 64]
        );
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
        assert_eq!(
            result.map_err(|error| error.kind()),
            Err(io::ErrorKind::BrokenPipe)
        );
    }
}
