//! Accesses to memory by kinds: what they did, where their data were found, and what finding them took, each in a few
//! kinds that share a column.

use oxperf_abi::DataSource;

/// What accesses are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKinds {
    /// Load, store, both, prefetch, instruction fetch, other.
    Operation,
    /// L1, L2, L3, L4, the buffers of L1 and L2, other.
    Cache,
    /// Local memory, its cache, uncached, CXL, a device, persistent memory, other.
    Memory,
    /// Other caches had the data, had changed them, had not; other.
    Snoop,
    /// The address's translation was in L1, in L2, in either, in neither; other.
    Translation,
}

/// How many kinds there are of all.
const ALL: usize = 29;

/// The periods of accesses of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeriodsByKind([u64; ALL]);

impl Default for PeriodsByKind {
    fn default() -> PeriodsByKind {
        PeriodsByKind([0; ALL])
    }
}

impl AccessKinds {
    const EACH: [AccessKinds; 5] = [
        AccessKinds::Operation,
        AccessKinds::Cache,
        AccessKinds::Memory,
        AccessKinds::Snoop,
        AccessKinds::Translation,
    ];

    /// How many kinds there are, the last of which takes all that no other does.
    pub const fn count(self) -> usize {
        match self {
            AccessKinds::Operation => 6,
            AccessKinds::Cache | AccessKinds::Memory => 7,
            AccessKinds::Snoop => 4,
            AccessKinds::Translation => 5,
        }
    }

    fn first(self) -> usize {
        Self::EACH
            .iter()
            .take_while(|kinds| **kinds != self)
            .map(|kinds| kinds.count())
            .sum()
    }

    /// Which kind an access is of.
    pub fn of(self, source: DataSource) -> usize {
        let known = match self {
            AccessKinds::Operation => operation(source),
            AccessKinds::Cache => match source.level_number() {
                level @ 1..=4 => Some(usize::from(level) - 1),
                12 => Some(4),
                5 => Some(5),
                _ => None,
            },
            AccessKinds::Memory => [13, 6, 8, 9, 10, 14]
                .iter()
                .position(|level| *level == source.level_number()),
            AccessKinds::Snoop => [1 << 2, 1 << 4, 1 << 3]
                .iter()
                .position(|said| *said == source.plain_snoops()),
            AccessKinds::Translation => translation(source),
        };
        known.unwrap_or(self.count() - 1)
    }
}

fn operation(source: DataSource) -> Option<usize> {
    const LOAD: u8 = 1 << 1;
    const STORE: u8 = 1 << 2;
    match source.operations() {
        bits if bits & 1 << 3 != 0 => Some(3),
        bits if bits & 1 << 4 != 0 => Some(4),
        bits => [LOAD, STORE, LOAD | STORE]
            .iter()
            .position(|done| *done == bits),
    }
}

fn translation(source: DataSource) -> Option<usize> {
    const HIT: u8 = 1 << 1;
    const MISSED: u8 = 1 << 2;
    const L1: u8 = 1 << 3;
    const L2: u8 = 1 << 4;
    match source.translations() {
        bits if bits & MISSED != 0 => Some(3),
        bits => [HIT | L1, HIT | L2, HIT | L1 | L2]
            .iter()
            .position(|found| *found == bits),
    }
}

impl PeriodsByKind {
    /// The sums of these kinds.
    pub fn of(&self, kinds: AccessKinds) -> &[u64] {
        &self.0[kinds.first()..][..kinds.count()]
    }

    pub(super) fn count(&mut self, source: DataSource, period: u64) {
        for kinds in AccessKinds::EACH {
            let sum = &mut self.0[kinds.first() + kinds.of(source)];
            *sum = sum.wrapping_add(period);
        }
    }

    pub(super) fn add(&mut self, other: &PeriodsByKind) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_is_of_one_kind_of_each() {
        assert_eq!(
            AccessKinds::EACH
                .iter()
                .map(|kinds| kinds.count())
                .sum::<usize>(),
            ALL
        );
        let mut sums = PeriodsByKind::default();
        // A load from the buffer of L1, its address's translation in L1 or L2.
        sums.count(DataSource(0x118_6810_0242), 3);
        sums.count(DataSource::NOTHING_KNOWN, 4);
        assert_eq!(sums.of(AccessKinds::Operation), [3, 0, 0, 0, 0, 4]);
        assert_eq!(sums.of(AccessKinds::Cache), [0, 0, 0, 0, 3, 0, 4]);
        assert_eq!(sums.of(AccessKinds::Memory), [0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(sums.of(AccessKinds::Snoop), [0, 0, 0, 7]);
        assert_eq!(sums.of(AccessKinds::Translation), [0, 0, 3, 0, 4]);
    }
}
