//! Bytes of records that stay readable while a record waits for its turn.

use std::sync::Arc;

use super::Framed;
use super::framing::{Frame, Framing};
use crate::Damage;
use oxperf_abi::FileOffset;

/// Bytes of a record: borrowed from a file image, or a part of a chunk that lives as long as somebody holds one.
#[derive(Clone, Debug)]
pub struct Held<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Borrowed(&'a [u8]),
    Shared { chunk: Arc<Vec<u8>>, start: usize, end: usize },
}

impl<'a> Held<'a> {
    /// Bytes of a file image.
    pub(super) fn borrowed(bytes: &'a [u8]) -> Held<'a> {
        Held(Kind::Borrowed(bytes))
    }

    /// What is left without the first `count` bytes.
    pub(super) fn skip(self, count: usize) -> Held<'a> {
        match self.0 {
            Kind::Borrowed(bytes) => Held::borrowed(bytes.get(count..).unwrap_or_default()),
            Kind::Shared { chunk, start, end } => {
                Held(Kind::Shared { chunk, start: start.saturating_add(count).min(end), end })
            }
        }
    }

    /// The first `count` bytes.
    pub(super) fn take(self, count: usize) -> Held<'a> {
        match self.0 {
            Kind::Borrowed(bytes) => Held::borrowed(bytes.get(..count).unwrap_or(bytes)),
            Kind::Shared { chunk, start, end } => {
                Held(Kind::Shared { chunk, start, end: start.saturating_add(count).min(end) })
            }
        }
    }
}

impl AsRef<[u8]> for Held<'_> {
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
    framing: Framing,
}

impl Chunk {
    pub(super) fn new(mut bytes: Vec<u8>, framing: Framing) -> Chunk {
        // A record that waits keeps the whole chunk.
        if bytes.len() < bytes.capacity() / 2 {
            bytes.shrink_to_fit();
        }
        Chunk { bytes: Arc::new(bytes), position: 0, framing }
    }

    /// What has not been framed.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Bytes framed so far.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The next record, said to begin at `offset`; or the bytes that a whole one would take.
    pub(super) fn next(&mut self, offset: FileOffset) -> Result<Framed<Held<'static>>, Missing> {
        match self.framing.frame(self.rest()) {
            Frame::Whole { header, payload } => {
                let start = self.position;
                let end = start + header.size as usize;
                self.position = end + payload;
                let held = |start, end| Held(Kind::Shared { chunk: Arc::clone(&self.bytes), start, end });
                let body = held(start + Framing::HEADER, end);
                let payload = if payload == 0 { Held::borrowed(&[]) } else { held(end, end + payload) };
                Ok(Framed { offset, header, body, payload })
            }
            Frame::Part { wanted } => Err(Missing::Bytes { wanted }),
            Frame::Senseless { size } => Err(Missing::Sense(Damage::RecordSize {
                offset,
                expected: Framing::HEADER as u64,
                found: u64::from(size),
            })),
        }
    }
}

/// Why a chunk gives no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Missing {
    /// The record, if one begins here, needs so many bytes from its beginning on.
    Bytes { wanted: u64 },
    /// Nothing after this can be framed.
    Sense(Damage),
}
