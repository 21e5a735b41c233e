//! Compressing records on their way into any form of a recording.

use std::io;

use oxperf_abi::{Misc, RecordType};
use oxperf_wire::user::Compressed as PaddedRecord;
use oxperf_wire::{Encoder, RecordHeader};
use zstd::stream::raw::{Encoder as Zstd, InBuffer, Operation, OutBuffer};

use crate::features::Compression;

/// The kinds of records that compressed bytes are put into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PackedAs {
    /// COMPRESSED: records of any size, which every perf since 5.2 reads.
    Exact,
    /// COMPRESSED2: records whose sizes are multiples of 8, as perf 7.x writes them; perf 6.1 does not know them.
    Padded,
}

/// Compresses the records of one writer: of a file, a stream, or one file of a directory. All that it makes belongs
/// to one Zstandard stream.
pub struct Packer {
    zstd: Zstd<'static>,
    level: u32,
    packed_as: PackedAs,
    piece: Vec<u8>,
    taken: u64,
    made: u64,
}

/// Bytes that are compressed at once: a reader needs as much for what one record holds. A multiple of a page.
const PIECE: usize = 512 << 10;

impl Packer {
    /// A packer of a level from 1 to 22.
    ///
    /// # Errors
    /// Zstandard has no memory, or no such level.
    pub fn new(level: u32, packed_as: PackedAs) -> io::Result<Packer> {
        let zstd = Zstd::new(i32::try_from(level).unwrap_or(i32::MAX))?;
        Ok(Packer {
            zstd,
            level,
            packed_as,
            piece: Vec::new(),
            taken: 0,
            made: 0,
        })
    }

    /// Appends compressed records that hold `records`, all of which can be read from them. Records that have
    /// something behind them, as AUX data, must not be among them: readers look for those outside.
    ///
    /// # Errors
    /// Zstandard fails.
    pub fn pack(&mut self, records: &[u8], out: &mut Encoder) -> io::Result<()> {
        for piece in records.chunks(PIECE) {
            self.compress(piece)?;
            let before = out.len();
            self.piece
                .chunks(self.room())
                .for_each(|bytes| self.encode(bytes, out));
            self.taken += piece.len() as u64;
            self.made += (out.len() - before) as u64;
        }
        Ok(())
    }

    /// The feature that states the compression.
    pub fn feature(&self) -> Compression {
        let ratio = (self.taken + self.made / 2)
            .checked_div(self.made)
            .unwrap_or(0);
        Compression {
            version: 1,
            method: 1,
            level: self.level,
            ratio: ratio as u32,
            mmap_size: PIECE as u32,
        }
    }

    /// Compresses a piece to its end, so that nothing of it waits for the next one.
    fn compress(&mut self, piece: &[u8]) -> io::Result<()> {
        self.piece.clear();
        let mut input = InBuffer::around(piece);
        while input.pos() < piece.len() {
            grown(&mut self.piece, |out| self.zstd.run(&mut input, out))?;
        }
        while grown(&mut self.piece, |out| self.zstd.flush(out))? > 0 {}
        Ok(())
    }

    /// The most bytes that fit into one record.
    fn room(&self) -> usize {
        let room = RecordHeader::MAX_SIZE - RecordHeader::SIZE;
        match self.packed_as {
            PackedAs::Exact => room,
            PackedAs::Padded => room - 8,
        }
    }

    fn encode(&self, bytes: &[u8], out: &mut Encoder) {
        match self.packed_as {
            PackedAs::Exact => {
                let size = (RecordHeader::SIZE + bytes.len()) as u32;
                RecordHeader {
                    kind: RecordType::COMPRESSED,
                    misc: Misc(0),
                    size,
                }
                .encode(out);
                out.bytes(bytes);
            }
            PackedAs::Padded => out.record(RecordType::COMPRESSED2, Misc(0), |body| {
                PaddedRecord { bytes }.encode_padded(body);
            }),
        }
    }
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer")
            .field("level", &self.level)
            .field("packed_as", &self.packed_as)
            .finish()
    }
}

/// Gives a step of the compressor room behind what `out` has.
fn grown(
    out: &mut Vec<u8>,
    step: impl FnOnce(&mut OutBuffer<'_, [u8]>) -> io::Result<usize>,
) -> io::Result<usize> {
    const ROOM: usize = 128 << 10;
    let start = out.len();
    out.resize(start + ROOM, 0);
    let mut target = OutBuffer::around_pos(out.as_mut_slice(), start);
    let outcome = step(&mut target);
    let end = target.pos();
    out.truncate(end);
    outcome
}

#[cfg(test)]
mod tests {
    use oxperf_wire::Endian;

    use super::*;
    use crate::{Container, Damage, FeatureSet, Reader, RecordSource, Writer, WriterEvent};

    const ROUND: [u8; 8] = match Endian::NATIVE {
        Endian::Little => [68, 0, 0, 0, 0, 0, 8, 0],
        Endian::Big => [0, 0, 0, 68, 0, 0, 0, 8],
    };

    /// Packs twice in a row; gives the packed bytes and what a file with them holds.
    fn packed(packed_as: PackedAs, records: &[u8]) -> (Vec<u8>, usize) {
        let mut packer = Packer::new(3, packed_as).unwrap();
        let mut out = Encoder::new(Endian::NATIVE);
        packer.pack(records, &mut out).unwrap();
        packer.pack(&ROUND, &mut out).unwrap();
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        writer.append(out.as_bytes()).unwrap();
        let mut features = FeatureSet::new();
        features.insert(&packer.feature());
        let file = writer.finish(&features).unwrap();
        let reader = Reader::open(&file).unwrap();
        assert_eq!(reader.container(), Container::File);
        let RecordSource::Buffered(found) = reader.source().unwrap() else {
            panic!("nothing is compressed")
        };
        let found = found.map(|record| record.unwrap().header.kind);
        (
            out.into_bytes(),
            found
                .filter(|kind| *kind == RecordType::FINISHED_ROUND)
                .count(),
        )
    }

    #[test]
    fn what_is_packed_can_be_read() {
        let many = ROUND.repeat(70_000);
        for packed_as in [PackedAs::Exact, PackedAs::Padded] {
            let (bytes, found) = packed(packed_as, &many);
            assert_eq!(found, 70_001, "{packed_as:?}");
            assert!(bytes.len() < 10_000, "{}", bytes.len());
        }
        assert_eq!(packed(PackedAs::Padded, &ROUND).0.len() % 8, 0);
    }

    /// Kinds of all records that the source gives.
    fn kinds(reader: &Reader<'_>) -> Vec<u32> {
        let RecordSource::Buffered(found) = reader.source().unwrap() else {
            panic!("nothing is compressed")
        };
        found.map(|record| record.unwrap().header.kind.0).collect()
    }

    #[test]
    fn what_was_packed_before_a_recorder_was_killed_can_be_read() {
        for packed_as in [PackedAs::Exact, PackedAs::Padded] {
            let mut packer = Packer::new(3, packed_as).unwrap();
            let mut out = Encoder::new(Endian::NATIVE);
            packer.pack(&ROUND.repeat(3), &mut out).unwrap();
            let kind = RecordType::COMPRESSED.0 + if packed_as == PackedAs::Exact { 0 } else { 2 };
            for claims in [true, false] {
                let mut file = Vec::new();
                let mut writer = Writer::begin(&mut file, &[WriterEvent::default()]).unwrap();
                writer.append(&ROUND).unwrap();
                writer.append(out.as_bytes()).unwrap();
                if claims {
                    writer.checkpoint().unwrap();
                }
                drop(writer);
                let reader = Reader::open(&file).unwrap();
                assert!(matches!(
                    reader.damage().listed(),
                    [Damage::NotFinished { .. }]
                ));
                assert_eq!(
                    kinds(&reader),
                    [68, kind, 68, 68, 68],
                    "{packed_as:?} {claims}"
                );
                // The files of a directory are compressed one by one.
                let (plain, part) = (
                    Writer::begin(Vec::new(), &[])
                        .unwrap()
                        .finish(&FeatureSet::new()),
                    out.as_bytes(),
                );
                let plain = plain.unwrap();
                let reader = Reader::open_directory(&plain, vec![part, &part[..0]]).unwrap();
                assert_eq!(kinds(&reader), [kind, 68, 68, 68], "{packed_as:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_compressed_takes_several_records() {
        // Numbers without a pattern, each in a record that nobody knows.
        let mut state = 1_u64;
        let mut out = Encoder::new(Endian::NATIVE);
        for _ in 0..20_000 {
            out.record(RecordType(90), Misc(0), |body| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                body.u64(state);
            });
        }
        let (bytes, found) = packed(PackedAs::Exact, &[out.as_bytes(), &ROUND].concat());
        assert_eq!(found, 2);
        assert!(bytes.len() > RecordHeader::MAX_SIZE * 2);
    }
}
