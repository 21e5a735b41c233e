//! The records of a stream, read as they are needed.

use std::collections::VecDeque;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use oxperf_abi::FileOffset;

use super::framing::Framing;
use super::held::{Chunk, Missing};
use super::{Framed, Held};
use crate::Damage;

/// Walks the records of a stream to its end. Memory: what is read at once, the largest record, and what the holders
/// of records keep.
pub(super) struct Streamed {
    input: Box<dyn Read + Send>,
    framing: Framing,
    /// Records that were read ahead.
    ahead: VecDeque<Result<Framed<Held<'static>>, Damage>>,
    chunk: Chunk,
    /// Place of the chunk's first byte in the stream.
    base: u64,
    ended: bool,
}

/// Bytes asked for at once.
const PIECE: usize = 128 << 10;

impl Streamed {
    /// The records that follow the `base` bytes that were read of the stream.
    pub(super) fn new(input: Box<dyn Read + Send>, base: u64, framing: Framing) -> Streamed {
        let chunk = Chunk::new(Vec::new(), framing);
        Streamed { input, framing, ahead: VecDeque::new(), chunk, base, ended: false }
    }

    /// Gives records again that were taken, before all others.
    pub(super) fn put_back(&mut self, records: Vec<Result<Framed<Held<'static>>, Damage>>) {
        self.ahead.extend(records);
    }

    fn offset(&self) -> FileOffset {
        FileOffset(self.base + self.chunk.position() as u64)
    }

    /// Reads until there are `wanted` bytes that are not framed, or the stream ends.
    fn fill(&mut self, wanted: u64) -> Result<(), Damage> {
        let mut bytes = self.chunk.rest().to_vec();
        self.base = self.offset().0;
        let outcome = loop {
            match read_some(&mut self.input, &mut bytes) {
                Ok(0) => {
                    self.ended = true;
                    break Ok(());
                }
                Ok(_) if bytes.len() as u64 >= wanted => break Ok(()),
                Ok(_) => {}
                Err(error) => {
                    self.ended = true;
                    let offset = FileOffset(self.base + bytes.len() as u64);
                    break Err(Damage::StreamBroken { offset, error });
                }
            }
        };
        self.chunk = Chunk::new(bytes, self.framing);
        outcome
    }

    /// Ends the walk.
    fn stop(&mut self) {
        self.ended = true;
        self.chunk = Chunk::new(Vec::new(), self.framing);
    }

    /// What to say when the stream ends inside a record of `wanted` bytes.
    fn cut(&mut self, wanted: u64) -> Option<Damage> {
        let (offset, found) = (self.offset(), self.chunk.rest().len() as u64);
        self.stop();
        (found > 0).then_some(Damage::RecordCut { offset, expected: wanted, found })
    }
}

/// Appends what one read gives, waiting for it if need be.
fn read_some(input: &mut dyn Read, bytes: &mut Vec<u8>) -> Result<usize, ErrorKind> {
    let start = bytes.len();
    bytes.resize(start + PIECE, 0);
    let outcome = loop {
        match input.read(&mut bytes[start..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    let count = outcome.as_ref().map_or(0, |count| *count);
    bytes.truncate(start + count);
    outcome.map_err(|error| error.kind())
}

impl Iterator for Streamed {
    type Item = Result<Framed<Held<'static>>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.ahead.pop_front() {
            return Some(record);
        }
        loop {
            let offset = self.offset();
            match self.chunk.next(offset) {
                Ok(record) => return Some(Ok(record)),
                Err(Missing::Sense(damage)) => {
                    self.stop();
                    return Some(Err(damage));
                }
                Err(Missing::Bytes { wanted }) if self.ended => return self.cut(wanted).map(Err),
                Err(Missing::Bytes { wanted }) => {
                    if let Err(damage) = self.fill(wanted) {
                        return Some(Err(damage));
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed").field("offset", &self.offset()).finish_non_exhaustive()
    }
}

/// A stream that several may hold and one can take.
#[derive(Clone, Debug)]
pub(super) struct Once(Arc<Mutex<Option<Streamed>>>);

impl Once {
    pub(super) fn new(stream: Streamed) -> Once {
        Once(Arc::new(Mutex::new(Some(stream))))
    }

    /// The stream, the first time.
    pub(super) fn take(&self) -> Option<Streamed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_wire::Endian;

    /// Gives its bytes a few at a time.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    fn walk(bytes: &[u8], at_once: usize) -> Vec<Result<(u64, u32, usize, usize), Damage>> {
        let framing = Framing { endian: Endian::Little };
        let stream = Streamed::new(Box::new(Drops(bytes.to_vec(), at_once)), 16, framing);
        stream
            .map(|item| {
                item.map(|record| {
                    let raw = record.as_raw();
                    (raw.offset.0, raw.header.kind.0, raw.body.len(), raw.payload.len())
                })
            })
            .collect()
    }

    #[test]
    fn records_come_out_however_the_bytes_come_in() {
        let mut bytes = vec![71, 0, 0, 0, 0, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend([0xaa; 8]);
        bytes.extend([68, 0, 0, 0, 0, 0, 8, 0]);
        for at_once in [1, 3, 8, 1000] {
            assert_eq!(walk(&bytes, at_once), [Ok((16, 71, 8, 8)), Ok((40, 68, 0, 0))], "{at_once}");
        }
    }

    #[test]
    fn an_end_inside_a_record_is_told_once() {
        let damage = Damage::RecordCut { offset: FileOffset(16), expected: 24, found: 9 };
        assert_eq!(walk(&[9, 0, 0, 0, 0, 0, 24, 0, 1], 4), [Err(damage)]);
        let damage = Damage::RecordSize { offset: FileOffset(16), expected: 8, found: 4 };
        assert_eq!(walk(&[9, 0, 0, 0, 0, 0, 4, 0, 1], 4), [Err(damage)]);
    }
}
