//! Records with the compressed ones followed by what they hold.

use oxperf_abi::{FileOffset, RecordType};

use super::buffered::{Chunk, Next};
use super::inflate::{Inflate, Step};
use super::resync::Tail;
use super::sanity::SanityCheck;
use super::walk::Walk;
use super::{BufferedBytes, Framed};
use crate::Damage;

type Item<'a> = Result<Framed<BufferedBytes<'a>>, Damage>;

/// Gives the records of `records`; after each compressed one those that it holds. A record that begins in one and
/// ends in the next comes after the next.
///
/// One compressed stream runs through all compressed records of a writer, so that none can be read after a broken or
/// a missing one, unless it begins a stream of its own.
#[derive(Debug)]
pub(super) struct Unpacked<'a, I> {
    records: I,
    ended: bool,
    /// The item that comes next, before anything else.
    ahead: Option<Item<'a>>,
    /// `None` while the stream is broken.
    inflate: Option<Inflate>,
    packed: Option<Packed<'a>>,
    /// The bytes that could not be decompressed since the stream broke.
    lost: Option<Lost>,
    walk: Walk,
    chunk: Chunk,
    /// Offset of the compressed record that the chunk comes from.
    offset: FileOffset,
    /// Most bytes that one compressed record may hold.
    limit: u64,
    volume: Volume,
}

/// Totals of all compressed records.
#[derive(Clone, Copy, Debug, Default)]
struct Volume {
    packed: u64,
    unpacked: u64,
}

impl Volume {
    /// Most bytes that may come out of what was met so far.
    fn limit(self) -> u64 {
        AT_ONCE.saturating_add(self.packed.saturating_mul(RATIO))
    }
}

/// A compressed record on its way.
#[derive(Debug)]
struct Packed<'a> {
    bytes: BufferedBytes<'a>,
    /// Its size when nothing of it was read.
    size: u64,
    produced: u64,
}

/// Compressed records that were passed over.
#[derive(Clone, Copy, Debug)]
struct Lost {
    offset: FileOffset,
    records: u64,
    bytes: u64,
    /// The limit that the first of them passes, if it does.
    limit: Option<u64>,
}

/// Bytes that are decompressed at once.
const PIECE: usize = 256 << 10;
/// No record that is compressed is larger: sizes have 16 bits, and what has a payload is never compressed.
const LARGEST: u64 = 1 << 16;
/// Limit of a compressed record's content when the recording states none.
const USUAL_LIMIT: u64 = 64 << 20;
/// Range of the limits that a recording may state.
const LIMITS: std::ops::RangeInclusive<u64> = 1 << 20..=512 << 20;
/// Limit of the decompressed size as a multiple of the compressed size, so that the work is bounded by its file.
/// Zstandard can come to 32768. Recorders come to 10, and to 1100 where every sample copies the same 64 KB of stack:
/// 4096 would leave such a sample 16 bytes, less than its time and registers take.
const RATIO: u64 = 4096;
/// Bytes that may come out of the first ones whatever the ratio.
const AT_ONCE: u64 = 1 << 20;
/// The first bytes of a compressed stream.
const BEGINNING: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A shorter gap than this has no room for a compressed record.
const SHORTEST: u64 = 12;

impl<'a, I: Iterator<Item = Item<'a>>> Unpacked<'a, I> {
    /// `stated` is the size that the recording names for the largest compressed record, 0 for none.
    pub(super) fn new(records: I, plausible: SanityCheck, stated: u32) -> Unpacked<'a, I> {
        let stated = u64::from(stated);
        let limit = match stated {
            0 => USUAL_LIMIT,
            // The end of a block may come with the record after it.
            stated => (2 * stated).clamp(*LIMITS.start(), *LIMITS.end()),
        };
        Unpacked {
            records,
            ended: false,
            ahead: None,
            inflate: Inflate::new().ok(),
            packed: None,
            lost: None,
            walk: Walk::new(plausible.at_most(LARGEST)),
            chunk: Chunk::new(Vec::new(), 0),
            offset: FileOffset(0),
            limit,
            volume: Volume::default(),
        }
    }

    /// Decompresses the next piece behind what is left of the last one.
    fn next_piece(&mut self) {
        let (Some(packed), Some(inflate)) = (self.packed.as_mut(), self.inflate.as_mut()) else {
            return;
        };
        let mut out = self.chunk.rest().to_vec();
        let Ok(Step { consumed, produced }) = inflate.step(packed.bytes.as_ref(), &mut out, PIECE)
        else {
            return self.give_up(None);
        };
        packed.produced += produced as u64;
        self.volume.unpacked = self.volume.unpacked.saturating_add(produced as u64);
        let limits = [
            (packed.produced, self.limit),
            (self.volume.unpacked, self.volume.limit()),
        ];
        let passed = limits
            .into_iter()
            .find(|(size, limit)| size > limit)
            .map(|(_, limit)| limit);
        let done = produced < PIECE;
        let bytes = std::mem::replace(&mut packed.bytes, BufferedBytes::borrowed(&[]));
        packed.bytes = bytes.skip(consumed);
        self.chunk = Chunk::new(out, self.chunk.place());
        if passed.is_some() {
            self.give_up(passed);
        } else if done {
            self.packed = None;
        }
    }

    /// The stream is broken in the record that is on its way, or passes a limit there.
    fn give_up(&mut self, limit: Option<u64>) {
        self.inflate = None;
        if let Some(packed) = self.packed.take() {
            self.count_lost(packed.size, limit);
        }
    }

    fn count_lost(&mut self, bytes: u64, limit: Option<u64>) {
        let lost = self.lost.get_or_insert(Lost {
            offset: self.offset,
            records: 0,
            bytes: 0,
            limit,
        });
        lost.records += 1;
        lost.bytes += bytes;
    }

    /// Tells what was lost, once.
    fn tell_lost(&mut self) -> Option<Item<'a>> {
        let Lost {
            offset,
            records,
            bytes,
            limit,
        } = self.lost.take()?;
        Some(Err(match limit {
            Some(limit) => Damage::Inflated {
                offset,
                records,
                bytes,
                limit,
            },
            None => Damage::Compressed {
                offset,
                records,
                bytes,
            },
        }))
    }

    /// The next record out of what is decompressed, or what is wrong with it.
    fn next_inside(&mut self) -> Option<Item<'a>> {
        loop {
            let broken = self.ended || self.inflate.is_none();
            let tail = match &self.packed {
                Some(_) => Tail::More,
                None if broken => Tail::End,
                None => Tail::Pause,
            };
            match self.chunk.next(&mut self.walk, tail) {
                Next::Record(record) => {
                    return Some(Ok(Framed {
                        offset: self.offset,
                        ..record
                    }));
                }
                Next::Damage(damage) => return Some(Err(self.inside(damage))),
                Next::More { .. } => self.next_piece(),
                Next::Pause | Next::End => return None,
            }
        }
    }

    /// Damage of what was compressed, with the place of the record that held it.
    fn inside(&self, damage: Damage) -> Damage {
        let offset = self.offset;
        match damage {
            Damage::RecordCut {
                expected, found, ..
            } => Damage::RecordCut {
                offset,
                expected,
                found,
            },
            gap => Damage::GapInside {
                offset,
                bytes: gap.lost_bytes(),
            },
        }
    }

    /// Notes what a record holds when it is a compressed one.
    fn enter(&mut self, record: &Framed<BufferedBytes<'a>>) {
        let body = record.body.clone();
        let bytes = match record.header.kind {
            RecordType::COMPRESSED => body,
            RecordType::COMPRESSED2 => {
                let size = self.walk.framing().number(body.as_ref(), 8);
                body.skip(8)
                    .take(usize::try_from(size).unwrap_or(usize::MAX))
            }
            _ => return,
        };
        self.offset = record.offset;
        if self.inflate.is_none() && bytes.as_ref().starts_with(&BEGINNING) {
            self.inflate = Inflate::new().ok();
        }
        let size = bytes.as_ref().len() as u64;
        self.volume.packed = self.volume.packed.saturating_add(size);
        match self.inflate {
            Some(_) => {
                self.packed = Some(Packed {
                    bytes,
                    size,
                    produced: 0,
                })
            }
            None => self.count_lost(size, None),
        }
    }

    /// Takes an item that comes from outside.
    fn take(&mut self, next: Item<'a>) -> Item<'a> {
        match &next {
            Ok(record) => self.enter(record),
            // What was compressed there is missing.
            Err(damage) if damage.lost_bytes() >= SHORTEST => self.inflate = None,
            Err(_) => {}
        }
        match self.tell_lost_if_over() {
            Some(lost) => {
                self.ahead = Some(next);
                lost
            }
            None => next,
        }
    }

    fn tell_lost_if_over(&mut self) -> Option<Item<'a>> {
        self.inflate.as_ref()?;
        self.tell_lost()
    }
}

impl<'a, I: Iterator<Item = Item<'a>>> Iterator for Unpacked<'a, I> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ahead) = self.ahead.take() {
                return Some(ahead);
            }
            if let Some(inside) = self.next_inside() {
                return Some(inside);
            }
            if self.ended {
                return self.tell_lost();
            }
            match self.records.next() {
                Some(next) => return Some(self.take(next)),
                None => self.ended = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::Records;
    use super::super::framing::Framing;
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
        let plausible = SanityCheck::new(Framing {
            endian: Endian::Little,
        });
        let section = Section {
            offset: 0,
            size: data.len() as u64,
        };
        let records =
            Records::new(data, section, plausible.clone()).map(|item| item.map(Framed::from));
        let unpacked = Unpacked::new(records, plausible, stated);
        unpacked
            .map(|item| item.map(|record| (record.header.kind.0, record.body.as_ref().len())))
            .collect()
    }

    #[test]
    fn a_record_may_straddle_two_compressed_ones() {
        let inner = record(3, &[7; 16]);
        let packed = compress(&[&inner[..10], &[&inner[10..], &ROUND[..]].concat()]);
        let data = [
            record(81, &packed[0]),
            record(81, &packed[1]),
            ROUND.to_vec(),
        ]
        .concat();
        let sizes = [packed[0].len(), packed[1].len()];
        assert_eq!(
            unpack(&data, 4096),
            [
                Ok((81, sizes[0])),
                Ok((81, sizes[1])),
                Ok((3, 16)),
                Ok((68, 0)),
                Ok((68, 0))
            ]
        );
    }

    #[test]
    fn the_padded_kind_says_its_size() {
        let packed = compress(&[&ROUND]).remove(0);
        let body = [&(packed.len() as u64).to_le_bytes()[..], &packed, &[0; 7]].concat();
        assert_eq!(
            unpack(&record(83, &body), 0),
            [Ok((83, body.len())), Ok((68, 0))]
        );
    }

    #[test]
    fn broken_bytes_end_what_is_compressed_and_nothing_else() {
        let data = [
            record(81, b"garbage!"),
            record(81, b"garbage!"),
            ROUND.to_vec(),
        ]
        .concat();
        let damage = Damage::Compressed {
            offset: FileOffset(0),
            records: 2,
            bytes: 16,
        };
        assert_eq!(
            unpack(&data, 0),
            [Ok((81, 8)), Ok((81, 8)), Ok((68, 0)), Err(damage)]
        );
    }

    #[test]
    fn a_new_stream_ends_the_loss() {
        let packed = compress(&[&ROUND]).remove(0);
        let data = [record(81, b"garbage!"), record(81, &packed), ROUND.to_vec()].concat();
        let damage = Damage::Compressed {
            offset: FileOffset(0),
            records: 1,
            bytes: 8,
        };
        assert_eq!(
            unpack(&data, 0),
            [
                Ok((81, 8)),
                Err(damage),
                Ok((81, packed.len())),
                Ok((68, 0)),
                Ok((68, 0))
            ]
        );
    }

    #[test]
    fn what_is_compressed_after_a_gap_is_not_trusted() {
        let packed = compress(&[
            &record(3, &[7; 16]),
            &record(3, &[7; 16]),
            &record(3, &[7; 16]),
        ]);
        let mut data = packed
            .iter()
            .flat_map(|piece| record(81, piece))
            .collect::<Vec<u8>>();
        data.extend(ROUND.repeat(3));
        let (first, second) = (8 + packed[0].len(), 8 + packed[1].len());
        data[first..first + 8].fill(0xff);
        let gap = Damage::Gap {
            from: FileOffset(first as u64),
            to: FileOffset((first + second) as u64),
        };
        let offset = FileOffset((first + second) as u64);
        let lost = Damage::Compressed {
            offset,
            records: 1,
            bytes: packed[2].len() as u64,
        };
        assert_eq!(
            unpack(&data, 0),
            [
                Ok((81, packed[0].len())),
                Ok((3, 16)),
                Err(gap),
                Ok((81, packed[2].len())),
                Ok((68, 0)),
                Ok((68, 0)),
                Ok((68, 0)),
                Err(lost)
            ]
        );
    }

    #[test]
    fn a_gap_in_what_was_compressed_tells_where_it_was() {
        let inner = [
            record(3, &[7; 16]),
            vec![0xff; 32],
            record(3, &[7; 16]),
            ROUND.repeat(2),
        ]
        .concat();
        let packed = compress(&[&inner]).remove(0);
        let gap = Damage::GapInside {
            offset: FileOffset(0),
            bytes: 32,
        };
        assert_eq!(
            unpack(&record(81, &packed), 0)[1..],
            [Ok((3, 16)), Err(gap), Ok((3, 16)), Ok((68, 0)), Ok((68, 0))]
        );
    }

    #[test]
    fn what_is_never_compressed_is_a_gap() {
        let trace = record(71, &[&4096_u64.to_le_bytes()[..], &[0; 32]].concat());
        let inner = [record(3, &[7; 16]), trace, ROUND.repeat(4)].concat();
        let packed = compress(&[&inner]).remove(0);
        let out = unpack(&record(81, &packed), 0);
        assert_eq!(
            out[1..3],
            [
                Ok((3, 16)),
                Err(Damage::GapInside {
                    offset: FileOffset(0),
                    bytes: 48
                })
            ]
        );
        assert_eq!(out[3..], [Ok((68, 0)); 4]);
    }

    #[test]
    fn more_than_a_recorder_can_have_written_is_refused() {
        // With a number now and then, it does not compress too well.
        let group = |number: u64| {
            [
                record(3, &number.wrapping_mul(77_777).to_le_bytes()),
                ROUND.repeat(20),
            ]
            .concat()
        };
        let much: Vec<u8> = (0..8000).flat_map(group).collect();
        let packed = compress(&[&much]).remove(0);
        let out = unpack(&record(81, &packed), 4096);
        let (bytes, limit) = (packed.len() as u64, 1 << 20);
        let refused = Damage::Inflated {
            offset: FileOffset(0),
            records: 1,
            bytes,
            limit,
        };
        assert_eq!(out.last(), Some(&Err(refused)));
        assert!(out.len() < 21 * 8000, "{}", out.len());
        assert_eq!(unpack(&record(81, &packed), 8 << 20).len(), 1 + 21 * 8000);
    }

    #[test]
    fn work_is_bounded_by_the_file_whatever_the_records_hold() {
        // Streams of their own, none of which passes the limit of a record.
        let packed = compress(&[&ROUND.repeat(1 << 20)]).remove(0);
        let data = record(81, &packed).repeat(8);
        let out = unpack(&data, 16 << 20);
        let limit = (1 << 20) + 4096 * packed.len() as u64;
        assert!((packed.len() as u64) < (8 << 20) / 4096, "{}", packed.len());
        let lost = |damage: &Damage| matches!(damage, Damage::Inflated { records: 1, .. });
        let told: Vec<_> = out.iter().filter_map(|item| item.as_ref().err()).collect();
        assert!(told.iter().all(|damage| lost(damage)), "{told:?}");
        let first = Damage::Inflated {
            offset: FileOffset(0),
            records: 1,
            bytes: packed.len() as u64,
            limit,
        };
        assert_eq!((*told[0], told.len()), (first, 8));
        let rounds = out.iter().filter(|item| **item == Ok((68, 0))).count() as u64;
        let most = (1 << 20) + 8 * (4096 * packed.len() as u64 + PIECE as u64);
        assert!(8 * rounds <= most, "{rounds}");
    }

    #[test]
    fn a_record_without_its_end_is_told() {
        let packed = compress(&[&record(3, &[7; 16])[..10]]).remove(0);
        let cut = Damage::RecordCut {
            offset: FileOffset(0),
            expected: 24,
            found: 10,
        };
        assert_eq!(unpack(&record(81, &packed), 0).last(), Some(&Err(cut)));
    }
}
