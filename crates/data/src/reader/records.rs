//! The records, framed and borrowed.

use std::fs::File;
use std::iter::FusedIterator;

use oxperf_abi::FileOffset;
use oxperf_wire::{Endian, RecordHeader};

use super::RawRecord;
use super::framing::Framing;
use crate::{Damage, Section};

/// Walks records from the first byte of the data to the last. After a [`Damage`] nothing follows.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    data: &'a [u8],
    position: usize,
    base: u64,
    framing: Framing,
    file: Option<&'a File>,
}

impl<'a> Records<'a> {
    pub(crate) fn new(file: &'a [u8], data: Section, endian: Endian) -> Records<'a> {
        let framing = Framing { endian };
        Records { data: data.slice(file), position: 0, base: data.offset, framing, file: None }
    }

    /// The same records, with the open file whose image they are borrowed from.
    pub(super) fn read_from(self, file: Option<&'a File>) -> Records<'a> {
        Records { file, ..self }
    }

    /// The open file, if it is known.
    pub(super) fn file(&self) -> Option<&'a File> {
        self.file
    }

    pub(super) fn framing(&self) -> Framing {
        self.framing
    }

    /// The bytes from the next record on.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.data.get(self.position..).unwrap_or_default()
    }

    /// Where the next record is expected.
    pub fn offset(&self) -> FileOffset {
        FileOffset(self.base + self.position as u64)
    }

    /// The records from `offset` on, which must be the beginning of one; none when it lies outside of the data.
    #[must_use]
    pub fn starting_at(&self, offset: FileOffset) -> Records<'a> {
        let position = offset.0.checked_sub(self.base).and_then(|position| usize::try_from(position).ok());
        let position = position.map_or(self.data.len(), |position| position.min(self.data.len()));
        Records { position, ..self.clone() }
    }

    /// The records up to the one that begins at `offset` or after.
    #[must_use]
    pub fn ending_at(&self, offset: FileOffset) -> Records<'a> {
        let length = usize::try_from(offset.0.saturating_sub(self.base)).unwrap_or(usize::MAX);
        Records { data: &self.data[..length.min(self.data.len())], ..self.clone() }
    }

    /// Ends the walk.
    #[cold]
    fn stop(&mut self, damage: Damage) -> Option<Result<RawRecord<'a>, Damage>> {
        self.position = self.data.len();
        Some(Err(damage))
    }

    #[cold]
    fn cut(&mut self, expected: u64) -> Option<Result<RawRecord<'a>, Damage>> {
        let found = (self.data.len() - self.position) as u64;
        self.stop(Damage::RecordCut { offset: self.offset(), expected, found })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RawRecord<'a>, Damage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.data.get(self.position..).filter(|rest| !rest.is_empty())?;
        let Some(first) = rest.first_chunk::<8>() else { return self.cut(Framing::HEADER as u64) };
        let header = self.framing.header(*first);
        let size = header.size as usize;
        let Some(body) = rest.get(Framing::HEADER..size) else { return self.unframed(header) };
        let payload_size = self.framing.payload_size(header.kind, body);
        let after = rest.get(size..).unwrap_or_default();
        let payload = usize::try_from(payload_size).ok().and_then(|length| after.get(..length));
        let Some(payload) = payload else { return self.cut(payload_size.saturating_add(size as u64)) };
        let offset = self.offset();
        self.position += size + payload.len();
        Some(Ok(RawRecord { offset, header, body, payload }))
    }
}

impl<'a> Records<'a> {
    /// Says why a record has no body.
    #[cold]
    fn unframed(&mut self, header: RecordHeader) -> Option<Result<RawRecord<'a>, Damage>> {
        if (header.size as usize) < Framing::HEADER {
            let (offset, expected) = (self.offset(), Framing::HEADER as u64);
            return self.stop(Damage::RecordSize { offset, expected, found: u64::from(header.size) });
        }
        self.cut(u64::from(header.size))
    }
}

impl FusedIterator for Records<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(data: &[u8], endian: Endian) -> Vec<Result<(u64, u32, usize, usize), Damage>> {
        let section = Section { offset: 2, size: data.len() as u64 };
        let file = [&[0xee, 0xee], data].concat();
        Records::new(&file, section, endian)
            .map(|item| item.map(|raw| (raw.offset.0, raw.header.kind.0, raw.body.len(), raw.payload.len())))
            .collect()
    }

    #[test]
    fn frames_both_byte_orders() {
        let little = [3, 0, 0, 0, 0, 32, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 68, 0, 0, 0, 0, 0, 8, 0];
        assert_eq!(walk(&little, Endian::Little), [Ok((2, 3, 8, 0)), Ok((18, 68, 0, 0))]);
        let big = [0, 0, 0, 3, 32, 0, 0, 16, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(walk(&big, Endian::Big), [Ok((2, 3, 8, 0))]);
    }

    #[test]
    fn a_size_below_the_header_ends_the_walk() {
        let bytes = [68, 0, 0, 0, 0, 0, 8, 0, 9, 0, 0, 0, 0, 0, 4, 0, 68, 0, 0, 0, 0, 0, 8, 0];
        let damage = Damage::RecordSize { offset: FileOffset(10), expected: 8, found: 4 };
        assert_eq!(walk(&bytes, Endian::Little), [Ok((2, 68, 0, 0)), Err(damage)]);
    }

    #[test]
    fn a_record_past_the_end_is_cut() {
        let damage = |expected, found| Damage::RecordCut { offset: FileOffset(2), expected, found };
        assert_eq!(walk(&[9, 0, 0, 0, 0, 0, 24, 0, 1], Endian::Little), [Err(damage(24, 9))]);
        assert_eq!(walk(&[9, 0, 0], Endian::Little), [Err(damage(8, 3))]);
    }

    #[test]
    fn auxtrace_takes_its_trace_along() {
        let mut bytes = vec![71, 0, 0, 0, 0, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend([0xaa; 8]);
        bytes.extend([68, 0, 0, 0, 0, 0, 8, 0]);
        assert_eq!(walk(&bytes, Endian::Little), [Ok((2, 71, 8, 8)), Ok((26, 68, 0, 0))]);
        bytes.truncate(20);
        let damage = Damage::RecordCut { offset: FileOffset(2), expected: 24, found: 20 };
        assert_eq!(walk(&bytes, Endian::Little), [Err(damage)]);
    }

    #[test]
    fn a_walk_can_begin_and_end_inside() {
        let bytes = [68, 0, 0, 0, 0, 0, 8, 0].repeat(4);
        let all = Records::new(&bytes, Section { offset: 0, size: 32 }, Endian::Little);
        let offsets = |records: Records<'_>| -> Vec<u64> {
            records.map(|item| item.map_or(0, |raw| raw.offset.0)).collect()
        };
        assert_eq!(offsets(all.starting_at(FileOffset(16))), [16, 24]);
        assert_eq!(offsets(all.ending_at(FileOffset(16))), [0, 8]);
        assert_eq!(offsets(all.starting_at(FileOffset(99))), []);
    }
}
