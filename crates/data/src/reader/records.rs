//! The records, framed and borrowed.

use std::fs::File;
use std::iter::FusedIterator;

use oxperf_abi::FileOffset;
use oxperf_wire::RecordHeader;

use super::RawRecord;
use super::framing::Framing;
use super::resync::Tail;
use super::sanity::SanityCheck;
use super::walk::{Step, Walk};
use crate::{Damage, Section};

/// Walks records from the first byte of the data to the last, past what is damaged.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    data: &'a [u8],
    position: usize,
    base: u64,
    walk: Walk,
    file: Option<&'a File>,
}

impl<'a> Records<'a> {
    pub(super) fn new(file: &'a [u8], data: Section, plausible: SanityCheck) -> Records<'a> {
        let walk = Walk::new(plausible);
        Records {
            data: data.slice(file),
            position: 0,
            base: data.offset,
            walk,
            file: None,
        }
    }

    /// These records, with the open file whose image they are borrowed from.
    pub(super) fn read_from(self, file: Option<&'a File>) -> Records<'a> {
        Records { file, ..self }
    }

    /// The open file, if it is known.
    pub(super) fn file(&self) -> Option<&'a File> {
        self.file
    }

    /// The record at the beginning of `rest`, with the length of all of it, if it is clear without a look at more.
    #[inline]
    pub(super) fn clear(&self, rest: &[u8]) -> Option<(RecordHeader, usize)> {
        self.walk.clear(rest)
    }

    /// The bytes from the next record on.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.data.get(self.position..).unwrap_or_default()
    }

    /// The offset at which the next record is expected.
    pub fn offset(&self) -> FileOffset {
        FileOffset(self.base + self.position as u64)
    }

    /// The records from `offset` on, which must be the beginning of one; none when it lies outside of the data.
    #[must_use]
    pub fn starting_at(&self, offset: FileOffset) -> Records<'a> {
        let position = offset
            .0
            .checked_sub(self.base)
            .and_then(|position| usize::try_from(position).ok());
        let position = position.map_or(self.data.len(), |position| position.min(self.data.len()));
        Records {
            position,
            ..self.clone()
        }
    }

    /// The records up to the one that begins at `offset` or after.
    #[must_use]
    pub fn ending_at(&self, offset: FileOffset) -> Records<'a> {
        let length = usize::try_from(offset.0.saturating_sub(self.base)).unwrap_or(usize::MAX);
        Records {
            data: &self.data[..length.min(self.data.len())],
            ..self.clone()
        }
    }

    fn advance(&mut self, count: usize) {
        self.position = self.position.saturating_add(count).min(self.data.len());
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RawRecord<'a>, Damage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.data.get(self.position..)?;
            let offset = self.offset();
            match self.walk.step(rest, offset.0, Tail::End) {
                Step::Record { header, payload } => {
                    let (size, end) = (header.size as usize, header.size as usize + payload);
                    self.position += end;
                    let (body, payload) = (&rest[Framing::HEADER..size], &rest[size..end]);
                    return Some(Ok(RawRecord {
                        offset,
                        header,
                        body,
                        payload,
                    }));
                }
                Step::Skip { count } => self.advance(count),
                Step::Damage { damage, count } => {
                    self.advance(count);
                    return Some(Err(damage));
                }
                Step::More { .. } | Step::Pause | Step::End => return None,
            }
        }
    }
}

impl FusedIterator for Records<'_> {}
