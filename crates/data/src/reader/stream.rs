//! The records of a stream, read as they are needed.

use std::collections::VecDeque;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Mutex, PoisonError};

use oxperf_abi::FileOffset;

use super::buffered::{Chunk, Next};
use super::resync::Tail;
use super::sanity::SanityCheck;
use super::walk::Walk;
use super::{BufferedBytes, Framed};
use crate::Damage;

/// Walks the records of a stream to its end. Memory: what is read at once, the largest record, and what the holders
/// of records keep.
pub(super) struct Streamed {
    input: Box<dyn Read + Send>,
    walk: Walk,
    /// Records that were read ahead.
    ahead: VecDeque<Result<Framed<BufferedBytes<'static>>, Damage>>,
    chunk: Chunk,
    ended: bool,
    /// Takes what one read gives.
    piece: Vec<u8>,
}

/// Bytes asked for at once.
const PIECE: usize = 128 << 10;

impl Streamed {
    /// The records that follow the `base` bytes that were read of the stream.
    pub(super) fn new(input: Box<dyn Read + Send>, base: u64, plausible: SanityCheck) -> Streamed {
        let chunk = Chunk::new(Vec::new(), base);
        Streamed {
            input,
            walk: Walk::new(plausible),
            ahead: VecDeque::new(),
            chunk,
            ended: false,
            piece: vec![0; PIECE],
        }
    }

    /// Gives records again that were taken, before all others.
    pub(super) fn put_back(
        &mut self,
        records: Vec<Result<Framed<BufferedBytes<'static>>, Damage>>,
    ) {
        self.ahead.extend(records);
    }

    /// Reads until there are `wanted` bytes that are not framed, or the stream ends.
    fn fill(&mut self, wanted: u64) -> Result<(), Damage> {
        let mut bytes = self.chunk.rest().to_vec();
        let base = self.chunk.place();
        let outcome = loop {
            match read_some(&mut self.input, &mut self.piece, &mut bytes) {
                Ok(0) => {
                    self.ended = true;
                    break Ok(());
                }
                Ok(_) if bytes.len() as u64 >= wanted => break Ok(()),
                Ok(_) => {}
                Err(error) => {
                    self.ended = true;
                    let offset = FileOffset(base + bytes.len() as u64);
                    break Err(Damage::StreamBroken { offset, error });
                }
            }
        };
        self.chunk = Chunk::new(bytes, base);
        outcome
    }
}

/// Appends what one read gives, waiting for it if need be.
fn read_some(
    input: &mut dyn Read,
    piece: &mut [u8],
    bytes: &mut Vec<u8>,
) -> Result<usize, ErrorKind> {
    loop {
        match input.read(piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.kind()),
            Ok(count) => {
                bytes.extend_from_slice(piece.get(..count).unwrap_or(piece));
                return Ok(count);
            }
        }
    }
}

impl Iterator for Streamed {
    type Item = Result<Framed<BufferedBytes<'static>>, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.ahead.pop_front() {
            return Some(record);
        }
        loop {
            let tail = if self.ended { Tail::End } else { Tail::More };
            match self.chunk.next(&mut self.walk, tail) {
                Next::Record(record) => return Some(Ok(record)),
                Next::Damage(damage) => return Some(Err(damage)),
                Next::More { wanted } if !self.ended => {
                    if let Err(damage) = self.fill(wanted) {
                        return Some(Err(damage));
                    }
                }
                Next::More { .. } | Next::Pause | Next::End => return None,
            }
        }
    }
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed")
            .field("place", &self.chunk.place())
            .finish_non_exhaustive()
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
    use super::super::framing::Framing;
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
        let plausible = SanityCheck::new(Framing {
            endian: Endian::Little,
        });
        let stream = Streamed::new(Box::new(Drops(bytes.to_vec(), at_once)), 16, plausible);
        stream
            .map(|item| {
                item.map(|record| {
                    let raw = record.as_raw();
                    (
                        raw.offset.0,
                        raw.header.kind.0,
                        raw.body.len(),
                        raw.payload.len(),
                    )
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
            assert_eq!(
                walk(&bytes, at_once),
                [Ok((16, 71, 8, 8)), Ok((40, 68, 0, 0))],
                "{at_once}"
            );
        }
    }

    #[test]
    fn an_end_inside_a_record_is_told_once() {
        let damage = Damage::RecordCut {
            offset: FileOffset(16),
            expected: 24,
            found: 9,
        };
        assert_eq!(walk(&[9, 0, 0, 0, 0, 0, 24, 0, 1], 4), [Err(damage)]);
        let damage = Damage::Gap {
            from: FileOffset(16),
            to: FileOffset(25),
        };
        assert_eq!(walk(&[9, 0, 0, 0, 0, 0, 4, 0, 1], 4), [Err(damage)]);
    }
}
