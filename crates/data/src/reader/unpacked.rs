//! Records with the compressed ones followed by what they hold.

use oxperf_abi::{FileOffset, RecordType};

use super::framing::Framing;
use super::held::{Chunk, Missing};
use super::inflate::{Inflate, Step};
use super::{Framed, Held};
use crate::Damage;

type Item<'a> = Result<Framed<Held<'a>>, Damage>;

/// Gives the records of `records`; after each compressed one those that it holds. A record that begins in one and
/// ends in the next comes after the next.
#[derive(Debug)]
pub(super) struct Unpacked<'a, I> {
    records: I,
    framing: Framing,
    /// `None` when the stream is broken: nothing that is compressed can be read any more.
    inflate: Option<Inflate>,
    packed: Option<Packed<'a>>,
    chunk: Chunk,
    /// Where the compressed record stands that the chunk comes from.
    offset: FileOffset,
    /// Most bytes that one compressed record may hold.
    limit: u64,
}

/// A compressed record on its way.
#[derive(Debug)]
struct Packed<'a> {
    bytes: Held<'a>,
    produced: u64,
}

/// Bytes that are decompressed at once.
const PIECE: usize = 256 << 10;
/// No record that is compressed is larger: sizes have 16 bits, and what has a payload is never compressed.
const LARGEST: u64 = 1 << 16;
/// What a compressed record may hold when the recording does not say.
const USUAL_LIMIT: u64 = 64 << 20;
/// What is believed of a recording that does.
const LIMITS: std::ops::RangeInclusive<u64> = 1 << 20..=512 << 20;

impl<'a, I: Iterator<Item = Item<'a>>> Unpacked<'a, I> {
    /// `stated` is the size that the recording names for the largest compressed record, 0 for none.
    pub(super) fn new(records: I, framing: Framing, stated: u32) -> Unpacked<'a, I> {
        let stated = u64::from(stated);
        let limit = match stated {
            0 => USUAL_LIMIT,
            // The end of a block may come with the record after it.
            stated => (2 * stated).clamp(*LIMITS.start(), *LIMITS.end()),
        };
        Unpacked {
            records,
            framing,
            inflate: Inflate::new().ok(),
            packed: None,
            chunk: Chunk::new(Vec::new(), framing),
            offset: FileOffset(0),
            limit,
        }
    }

    /// Decompresses the next piece behind what is left of the last one; `false` when there is none.
    fn next_piece(&mut self) -> Result<bool, Damage> {
        let (Some(packed), Some(inflate)) = (self.packed.as_mut(), self.inflate.as_mut()) else {
            return Ok(false);
        };
        let mut out = self.chunk.rest().to_vec();
        let Ok(Step { consumed, produced }) = inflate.step(packed.bytes.as_ref(), &mut out, PIECE) else {
            return Err(self.give_up());
        };
        packed.produced += produced as u64;
        let excessive = packed.produced > self.limit;
        let done = produced < PIECE;
        let bytes = std::mem::replace(&mut packed.bytes, Held::borrowed(&[]));
        packed.bytes = bytes.skip(consumed);
        self.chunk = Chunk::new(out, self.framing);
        if excessive {
            return Err(self.give_up());
        }
        if done {
            self.packed = None;
        }
        Ok(true)
    }

    /// Ends the decompression.
    fn give_up(&mut self) -> Damage {
        self.inflate = None;
        self.packed = None;
        self.chunk = Chunk::new(Vec::new(), self.framing);
        Damage::Compressed { offset: self.offset }
    }

    /// The next record out of what is decompressed.
    fn next_inside(&mut self) -> Option<Item<'a>> {
        loop {
            match self.chunk.next(self.offset) {
                Ok(record) => return Some(Ok(record)),
                Err(Missing::Sense(_)) => return Some(Err(self.give_up())),
                Err(Missing::Bytes { wanted }) if wanted > LARGEST => return Some(Err(self.give_up())),
                Err(Missing::Bytes { .. }) => match self.next_piece() {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(damage) => return Some(Err(damage)),
                },
            }
        }
    }

    /// Notes what a record holds when it is a compressed one.
    fn enter(&mut self, record: &Framed<Held<'a>>) {
        let body = record.body.clone();
        let bytes = match record.header.kind {
            RecordType::COMPRESSED => body,
            RecordType::COMPRESSED2 => {
                let size = self.framing.number(body.as_ref(), 8);
                body.skip(8).take(usize::try_from(size).unwrap_or(usize::MAX))
            }
            _ => return,
        };
        self.offset = record.offset;
        self.packed = Some(Packed { bytes, produced: 0 });
    }

    /// A record that the end of the recording cuts.
    fn cut(&mut self) -> Option<Item<'a>> {
        let found = self.chunk.rest().len() as u64;
        let Err(Missing::Bytes { wanted }) = self.chunk.next(self.offset) else { return None };
        self.chunk = Chunk::new(Vec::new(), self.framing);
        (found > 0).then_some(Err(Damage::RecordCut { offset: self.offset, expected: wanted, found }))
    }
}

impl<'a, I: Iterator<Item = Item<'a>>> Iterator for Unpacked<'a, I> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if let Some(inside) = self.next_inside() {
            return Some(inside);
        }
        let Some(next) = self.records.next() else { return self.cut() };
        if let Ok(record) = &next {
            self.enter(record);
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::Records;
    use super::*;
    use crate::Section;
    use oxperf_wire::Endian;

    const ROUND: [u8; 8] = [68, 0, 0, 0, 0, 0, 8, 0];

    /// A record of a kind with this body.
    fn record(kind: u8, body: &[u8]) -> Vec<u8> {
        let size = (body.len() as u16 + 8).to_le_bytes();
        [&[kind, 0, 0, 0, 0, 0], &size[..], body].concat()
    }

    /// One zstd stream over the pieces, flushed after each.
    fn compress(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        let flushed = pieces.iter().map(|piece| {
            encoder.write_all(piece).unwrap();
            encoder.flush().unwrap();
            std::mem::take(encoder.get_mut())
        });
        flushed.collect()
    }

    /// Kinds and body sizes of everything that comes out.
    fn unpack(data: &[u8], stated: u32) -> Vec<Result<(u32, usize), Damage>> {
        let framing = Framing { endian: Endian::Little };
        let section = Section { offset: 0, size: data.len() as u64 };
        let records = Records::new(data, section, Endian::Little).map(|item| item.map(Framed::from));
        let unpacked = Unpacked::new(records, framing, stated);
        unpacked.map(|item| item.map(|record| (record.header.kind.0, record.body.as_ref().len()))).collect()
    }

    #[test]
    fn a_record_may_straddle_two_compressed_ones() {
        let inner = record(3, &[7; 16]);
        let packed = compress(&[&inner[..10], &[&inner[10..], &ROUND[..]].concat()]);
        let data = [record(81, &packed[0]), record(81, &packed[1]), ROUND.to_vec()].concat();
        let sizes = [packed[0].len(), packed[1].len()];
        assert_eq!(
            unpack(&data, 4096),
            [Ok((81, sizes[0])), Ok((81, sizes[1])), Ok((3, 16)), Ok((68, 0)), Ok((68, 0))]
        );
    }

    #[test]
    fn the_padded_kind_says_its_size() {
        let packed = compress(&[&ROUND]).remove(0);
        let body = [&(packed.len() as u64).to_le_bytes()[..], &packed, &[0; 5]].concat();
        assert_eq!(unpack(&record(83, &body), 0), [Ok((83, body.len())), Ok((68, 0))]);
    }

    #[test]
    fn broken_bytes_end_what_is_compressed_and_nothing_else() {
        let data = [record(81, b"garbage!"), record(81, b"garbage!"), ROUND.to_vec()].concat();
        let damage = Damage::Compressed { offset: FileOffset(0) };
        assert_eq!(unpack(&data, 0), [Ok((81, 8)), Err(damage), Ok((81, 8)), Ok((68, 0))]);
    }

    #[test]
    fn more_than_a_recorder_can_have_written_is_refused() {
        let much = ROUND.repeat(1 << 20);
        let packed = compress(&[&much]).remove(0);
        let out = unpack(&record(81, &packed), 4096);
        assert_eq!(out.last(), Some(&Err(Damage::Compressed { offset: FileOffset(0) })));
        assert!(out.len() < 1 << 18, "{}", out.len());
        assert_eq!(unpack(&record(81, &packed), 8 << 20).len(), 1 + (1 << 20));
    }

    #[test]
    fn a_record_without_its_end_is_told() {
        let packed = compress(&[&record(3, &[7; 16])[..10]]).remove(0);
        let cut = Damage::RecordCut { offset: FileOffset(0), expected: 24, found: 10 };
        assert_eq!(unpack(&record(81, &packed), 0).last(), Some(&Err(cut)));
    }
}
