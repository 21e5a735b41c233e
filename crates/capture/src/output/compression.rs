//! The compression of records on their way to the output.

use std::io;

use oxperf_data::features::Compression;
use oxperf_data::{PackedAs, Packer};
use oxperf_wire::{Encoder, Endian};

/// A compressor with the sizes of what it took and gave.
pub(super) struct Compressor {
    packer: Packer,
    /// Memory for what is packed at once.
    packed: Encoder,
    volume: Volume,
}

/// Sizes before and after compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Volume {
    /// Bytes of the records that were compressed.
    pub plain: u64,
    /// Bytes of the compressed records.
    pub packed: u64,
}

impl Volume {
    /// The size before as a multiple of the size after, rounded.
    fn ratio(self) -> u32 {
        let ratio = (self.plain + self.packed / 2).checked_div(self.packed);
        ratio.map_or(0, |ratio| u32::try_from(ratio).unwrap_or(u32::MAX))
    }
}

impl Compressor {
    /// Compresses at a level from 1 to 22.
    ///
    /// # Errors
    /// The compressor's answer.
    pub(super) fn new(level: u32) -> io::Result<Compressor> {
        // Records of any size, which every perf that knows compression reads.
        let packer = Packer::new(level, PackedAs::Exact)?;
        Ok(Compressor {
            packer,
            packed: Encoder::new(Endian::NATIVE),
            volume: Volume::default(),
        })
    }

    /// Compresses whole records into one record.
    ///
    /// # Errors
    /// The compressor's answer.
    pub(super) fn pack(&mut self, records: &[u8]) -> io::Result<&[u8]> {
        self.packed.clear();
        self.packer.pack(records, &mut self.packed)?;
        self.volume.plain += records.len() as u64;
        self.volume.packed += self.packed.len() as u64;
        Ok(self.packed.as_bytes())
    }

    /// The feature that readers need.
    pub(super) fn feature(&self) -> Compression {
        self.packer.feature()
    }

    /// The feature and the sizes of several that work alike, if there are any.
    pub(super) fn of_all<'a>(
        all: impl Iterator<Item = &'a Compressor>,
    ) -> Option<(Compression, Volume)> {
        all.fold(None, |before, one| {
            let Volume { plain, packed } = before.map_or(Volume::default(), |(_, volume)| volume);
            let volume = Volume {
                plain: plain + one.volume.plain,
                packed: packed + one.volume.packed,
            };
            let feature = Compression {
                ratio: volume.ratio(),
                ..one.feature()
            };
            Some((feature, volume))
        })
    }
}
