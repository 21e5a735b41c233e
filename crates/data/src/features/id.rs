//! The numbers of the features, and the set of them in the file header.

use std::fmt;

/// A feature's bit in the file header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureId(pub u8);

/// The features that simpleperf adds.
impl FeatureId {
    /// Binaries with symbols.
    pub const SIMPLEPERF_FILE: FeatureId = FeatureId(128);
    /// Keys with values.
    pub const SIMPLEPERF_META_INFO: FeatureId = FeatureId(129);
    /// Files kept to find out why stacks could not be unwound.
    pub const SIMPLEPERF_DEBUG_UNWIND: FeatureId = FeatureId(130);
    /// The bytes of these files.
    pub const SIMPLEPERF_DEBUG_UNWIND_FILE: FeatureId = FeatureId(131);
    /// Binaries with symbols, in the newer coding.
    pub const SIMPLEPERF_FILE2: FeatureId = FeatureId(132);
    /// Branches decoded from the traces of Arm CPUs.
    pub const SIMPLEPERF_ETM_BRANCH_LIST: FeatureId = FeatureId(133);
    /// Mappings at the beginning.
    pub const SIMPLEPERF_INIT_MAP: FeatureId = FeatureId(134);

    /// simpleperf's name for one of its features.
    pub fn simpleperf_name(self) -> Option<&'static str> {
        const NAMES: [&str; 7] = [
            "FILE",
            "META_INFO",
            "DEBUG_UNWIND",
            "DEBUG_UNWIND_FILE",
            "FILE2",
            "ETM_BRANCH_LIST",
            "INIT_MAP",
        ];
        NAMES
            .get(usize::from(self.0.checked_sub(Self::SIMPLEPERF_FILE.0)?))
            .copied()
    }
}

impl fmt::Display for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name().or_else(|| self.simpleperf_name()) {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FeatureId({self})")
    }
}

/// A set of features: the 256 bits of the file header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FeatureBits([u64; 4]);

impl FeatureBits {
    /// From the header's words, lowest bits first.
    pub const fn from_words(words: [u64; 4]) -> FeatureBits {
        FeatureBits(words)
    }

    /// The header's words, lowest bits first.
    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// Returns whether no bit is set.
    pub const fn is_empty(self) -> bool {
        matches!(self.words(), [0, 0, 0, 0])
    }

    /// Returns whether `id` is in the set.
    pub const fn contains(self, id: FeatureId) -> bool {
        self.0[id.0 as usize / 64] >> (id.0 % 64) & 1 == 1
    }

    /// Adds `id`.
    pub const fn insert(&mut self, id: FeatureId) {
        self.0[id.0 as usize / 64] |= 1 << (id.0 % 64);
    }

    /// The features of the set, lowest first.
    pub fn iter(self) -> impl Iterator<Item = FeatureId> {
        (0..=u8::MAX)
            .map(FeatureId)
            .filter(move |id| self.contains(*id))
    }
}

impl FromIterator<FeatureId> for FeatureBits {
    fn from_iter<I: IntoIterator<Item = FeatureId>>(ids: I) -> FeatureBits {
        let mut bits = FeatureBits::default();
        ids.into_iter().for_each(|id| bits.insert(id));
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_numbers() {
        assert_eq!(FeatureId(13).to_string(), "CPU_TOPOLOGY");
        assert_eq!(FeatureId(200).to_string(), "200");
        assert_eq!(
            FeatureId::ALL.iter().map(|id| id.0).collect::<Vec<_>>(),
            (1..=34).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_set_keeps_every_bit() {
        let ids = [
            FeatureId(0),
            FeatureId::HOSTNAME,
            FeatureId(64),
            FeatureId(255),
        ];
        let bits: FeatureBits = ids.into_iter().collect();
        assert_eq!(bits.iter().collect::<Vec<_>>(), ids);
        assert_eq!(bits.words(), [1 | 1 << 3, 1, 0, 1 << 63]);
    }
}
