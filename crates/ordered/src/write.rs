//! Long text made by several workers and written in order.

use std::io::{self, Write};
use std::ops::Range;

use crate::OrderedPool;

/// Most items of a piece: enough for a good write, few enough for many pieces.
const MAX_ITEMS: usize = 2048;
/// Fewest, as long as nobody knows how long their text is: a row may have a large graph.
const MIN_ITEMS: usize = 32;
/// So much text of a piece is enough for a good write, too.
const TEXT: usize = 256 << 10;

/// A range of items, and the buffer for their text.
type Piece = (Range<usize>, Vec<u8>);

/// Writes the text of `count` items. `make` appends that of a range of them; it is called for pieces of the whole, by
/// several workers, while earlier pieces are written.
///
/// # Errors
/// Those of `out`; what is not made yet is not made, then.
pub fn write_in_order(
    out: &mut dyn Write,
    count: usize,
    make: impl Fn(Range<usize>, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    if count <= MIN_ITEMS {
        let mut text = Vec::new();
        make(0..count, &mut text);
        return out.write_all(&text);
    }
    let work = &|(range, mut text): Piece| {
        make(range.clone(), &mut text);
        (range, text)
    };
    let limit = rayon::current_num_threads() * 4;
    // Tasks of the threads that there are: a thread more would be one more that cannot be had.
    rayon::in_place_scope(|scope| {
        let mut pool: OrderedPool<(), Piece> = OrderedPool::new();
        let mut empty: Vec<Vec<u8>> = Vec::new();
        let (mut start, mut each) = (0, MIN_ITEMS);
        loop {
            while start < count && pool.pending() < limit {
                let end = count.min(start + each);
                let piece = (start..end, empty.pop().unwrap_or_default());
                let done = pool.promise();
                // Nobody waits where the writing has failed.
                scope.spawn(move |_| drop(done.send(work(piece))));
                start = end;
            }
            // Where no thread could be had, this one makes the pieces.
            while let Some(rayon::Yield::Executed) = rayon::yield_now() {}
            let Some((range, mut text)) = pool.take(0)? else {
                return Ok(());
            };
            each = items_of_piece(range.len(), text.len());
            out.write_all(&text)?;
            text.clear();
            empty.push(text);
        }
    })
}

/// Items of the next pieces, given how much text so many others had.
fn items_of_piece(items: usize, bytes: usize) -> usize {
    (TEXT * items / bytes.max(1)).clamp(MIN_ITEMS, MAX_ITEMS)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn pieces_come_in_order() {
        for count in [0, 1, MAX_ITEMS, 100 * MAX_ITEMS + 7] {
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
        let longest = AtomicUsize::new(0);
        let make = |range: Range<usize>, text: &mut Vec<u8>| {
            longest.fetch_max(range.len(), Ordering::Relaxed);
            range.for_each(|_| text.extend_from_slice(&[b'x'; 16 << 10]));
        };
        write_in_order(&mut io::sink(), 2 * MAX_ITEMS, make).unwrap();
        assert_eq!(longest.into_inner(), MIN_ITEMS);
        assert_eq!(
            [(100, 100), (100, 0), (256, 1 << 20)].map(|(n, bytes)| items_of_piece(n, bytes)),
            [MAX_ITEMS, MAX_ITEMS, 64]
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
        let result = write_in_order(&mut Closed, 10 * MAX_ITEMS, |_, text| text.push(b'x'));
        assert_eq!(
            result.map_err(|error| error.kind()),
            Err(io::ErrorKind::BrokenPipe)
        );
    }
}
