//! Bytes of records that stay readable while a record waits for its turn.

use std::ops::Range;
use std::sync::Arc;

use super::Framed;
use super::framing::Framing;
use super::resync::Tail;
use super::walk::{Step, Walk};
use crate::Damage;
use oxperf_abi::FileOffset;

/// Bytes of a record: borrowed from a file image, or a part of a chunk that lives as long as somebody holds one.
#[derive(Clone, Debug)]
pub struct BufferedBytes<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Borrowed(&'a [u8]),
    Shared {
        chunk: Arc<Vec<u8>>,
        start: usize,
        end: usize,
    },
}

impl<'a> BufferedBytes<'a> {
    /// Bytes of a file image.
    pub(super) fn borrowed(bytes: &'a [u8]) -> BufferedBytes<'a> {
        BufferedBytes(Kind::Borrowed(bytes))
    }

    /// A part of bytes that live as long as somebody holds one.
    pub(super) fn part_of(chunk: &Arc<Vec<u8>>, part: Range<usize>) -> BufferedBytes<'static> {
        BufferedBytes(Kind::Shared {
            chunk: Arc::clone(chunk),
            start: part.start,
            end: part.end,
        })
    }

    /// The bytes behind the first `count`.
    pub(super) fn skip(self, count: usize) -> BufferedBytes<'a> {
        match self.0 {
            Kind::Borrowed(bytes) => {
                BufferedBytes::borrowed(bytes.get(count..).unwrap_or_default())
            }
            Kind::Shared { chunk, start, end } => BufferedBytes(Kind::Shared {
                chunk,
                start: start.saturating_add(count).min(end),
                end,
            }),
        }
    }

    /// The first `count` bytes.
    pub(super) fn take(self, count: usize) -> BufferedBytes<'a> {
        match self.0 {
            Kind::Borrowed(bytes) => BufferedBytes::borrowed(bytes.get(..count).unwrap_or(bytes)),
            Kind::Shared { chunk, start, end } => BufferedBytes(Kind::Shared {
                chunk,
                start,
                end: start.saturating_add(count).min(end),
            }),
        }
    }
}

impl AsRef<[u8]> for BufferedBytes<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Kind::Borrowed(bytes) => bytes,
            Kind::Shared { chunk, start, end } => chunk.get(*start..*end).unwrap_or_default(),
        }
    }
}

/// Bytes with records one after another; the last one may go on in the next chunk.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    bytes: Arc<Vec<u8>>,
    position: usize,
    /// Place of the first byte among all that are framed one after another.
    base: u64,
}

impl Chunk {
    /// A chunk whose first byte stands at `base`.
    pub(super) fn new(mut bytes: Vec<u8>, base: u64) -> Chunk {
        // A record that waits keeps the whole chunk.
        if bytes.len() < bytes.capacity() / 2 {
            bytes.shrink_to_fit();
        }
        Chunk {
            bytes: Arc::new(bytes),
            position: 0,
            base,
        }
    }

    /// The bytes that have not been framed.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Place of the first byte that has not been framed.
    pub(super) fn place(&self) -> u64 {
        self.base + self.position as u64
    }

    /// The chunk without its first `count` bytes that have not been framed.
    fn advance(&mut self, count: usize) {
        self.position = self.position.saturating_add(count).min(self.bytes.len());
    }

    /// The next step of the walk, with the bytes of a record and its place.
    pub(super) fn next(&mut self, walk: &mut Walk, tail: Tail) -> Next {
        loop {
            let place = self.place();
            match walk.step(self.rest(), place, tail) {
                Step::Record { header, payload } => {
                    let start = self.position;
                    let end = start + header.size as usize;
                    self.position = end + payload;
                    let held = |part| BufferedBytes::part_of(&self.bytes, part);
                    let body = held(start + Framing::HEADER..end);
                    let payload = if payload == 0 {
                        BufferedBytes::borrowed(&[])
                    } else {
                        held(end..end + payload)
                    };
                    return Next::Record(Framed {
                        offset: FileOffset(place),
                        header,
                        body,
                        payload,
                    });
                }
                Step::Skip { count } => self.advance(count),
                Step::Damage { damage, count } => {
                    self.advance(count);
                    return Next::Damage(damage);
                }
                Step::More { wanted } => return Next::More { wanted },
                Step::Pause => return Next::Pause,
                Step::End => return Next::End,
            }
        }
    }
}

/// The next thing that a chunk gives.
#[derive(Debug)]
pub(super) enum Next {
    Record(Framed<BufferedBytes<'static>>),
    Damage(Damage),
    /// So many bytes are needed from [`Chunk::place`] on.
    More {
        wanted: u64,
    },
    /// More bytes would decide, but none can be had now.
    Pause,
    /// All bytes are framed, and there are no more.
    End,
}
