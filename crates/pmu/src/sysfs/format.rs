//! The bits of a config word that a term fills: the files of a PMU's `format` folder.

use oxperf_abi::EventAttr;

/// A config word of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConfigWord {
    /// `config`.
    Config,
    /// `config1`.
    Config1,
    /// `config2`.
    Config2,
    /// `config3`.
    Config3,
    /// `config4`.
    Config4,
}

impl ConfigWord {
    pub(crate) const ALL: [ConfigWord; 5] = [
        ConfigWord::Config,
        ConfigWord::Config1,
        ConfigWord::Config2,
        ConfigWord::Config3,
        ConfigWord::Config4,
    ];

    /// The word that perf calls by this name.
    pub(crate) fn named(name: &str) -> Option<ConfigWord> {
        let mut all = ConfigWord::ALL.into_iter();
        all.find(|word| word.name() == name)
    }

    /// perf's name for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ConfigWord::Config => "config",
            ConfigWord::Config1 => "config1",
            ConfigWord::Config2 => "config2",
            ConfigWord::Config3 => "config3",
            ConfigWord::Config4 => "config4",
        }
    }

    /// The word of an attribute.
    pub(crate) fn of(self, attr: &EventAttr) -> u64 {
        match self {
            ConfigWord::Config => attr.config,
            ConfigWord::Config1 => attr.config1,
            ConfigWord::Config2 => attr.config2,
            ConfigWord::Config3 => attr.config3,
            ConfigWord::Config4 => attr.config4,
        }
    }
}

/// Bits of one config word that a value is spread over, the value's lowest bit first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BitRanges {
    /// The word.
    pub word: ConfigWord,
    /// First and last bit of each piece, both below 64.
    pieces: Vec<(u32, u32)>,
}

impl BitRanges {
    /// Reads `config1:0-7,32-35`; a file without a word means `config`.
    pub fn parse(text: &str) -> Option<BitRanges> {
        let (word, bits) = text
            .trim()
            .split_once(':')
            .unwrap_or(("config", text.trim()));
        let pieces = bits
            .split(',')
            .map(parse_piece)
            .collect::<Option<Vec<_>>>()?;
        Some(BitRanges {
            word: ConfigWord::named(word)?,
            pieces,
        })
    }

    fn width(&self) -> u32 {
        self.pieces
            .iter()
            .map(|(first, last)| last - first + 1)
            .sum::<u32>()
            .min(64)
    }

    /// The largest value that fits.
    pub fn maximum(&self) -> u64 {
        mask(self.width())
    }

    /// All the bits of the word that it fills.
    pub fn bits(&self) -> u64 {
        let pieces = self.pieces.iter();
        pieces.fold(0, |bits, (first, last)| {
            bits | mask(last - first + 1) << first
        })
    }

    /// The value spread over the bits; `None` when it is too large.
    pub fn pack(&self, value: u64) -> Option<u64> {
        if value > self.maximum() {
            return None;
        }
        let (mut rest, mut word) = (value, 0);
        for (first, last) in &self.pieces {
            let width = last - first + 1;
            word |= (rest & mask(width)) << first;
            rest = rest.checked_shr(width).unwrap_or(0);
        }
        Some(word)
    }
}

impl BitRanges {
    /// The value whose bits stand in a word, the way back from [`BitRanges::pack`].
    pub fn unpack(&self, word: u64) -> u64 {
        let (mut value, mut width) = (0, 0);
        for (first, last) in &self.pieces {
            let piece = (word >> first) & mask(last - first + 1);
            value |= piece.checked_shl(width).unwrap_or(0);
            width += last - first + 1;
        }
        value
    }
}

fn parse_piece(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < u64::BITS).then_some((first, last))
}

/// A word with the lowest `width` bits set.
fn mask(width: u32) -> u64 {
    1u64.checked_shl(width).map_or(u64::MAX, |bit| bit - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_spread_over_pieces() {
        let ranges = BitRanges::parse("config:0-7,32-35\n").unwrap();
        assert_eq!(ranges.maximum(), 0xfff);
        assert_eq!(ranges.pack(0x1c0), Some(0x1_0000_00c0));
        assert_eq!(ranges.pack(0x1000), None);
        assert_eq!(ranges.bits(), 0xf_0000_00ff);
        assert_eq!(ranges.unpack(0x1_0000_00c0), 0x1c0);
        let single = BitRanges::parse("config1:23").unwrap();
        assert_eq!(
            (single.word, single.pack(1)),
            (ConfigWord::Config1, Some(1 << 23))
        );
        assert_eq!(
            BitRanges::parse("config2:0-63").unwrap().pack(u64::MAX),
            Some(u64::MAX)
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "config:",
            "config:0-64",
            "config:7-0",
            "config9:0",
            "config:a-b",
        ] {
            assert_eq!(BitRanges::parse(text), None, "{text}");
        }
        // Overlapping pieces wider than a word must not overflow.
        assert_eq!(
            BitRanges::parse("config:0-63,0-63").unwrap().pack(u64::MAX),
            Some(u64::MAX)
        );
    }
}
