//! The tables of located addresses: which of them an address belongs to, and its number among all.

use oxperf_resolve::FrameId as LocatedId;

/// The distribution of addresses, and of their numbers, over tables: as many as two to some power.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableSplit {
    pub(super) bits: u32,
}

impl TableSplit {
    pub(super) fn count(self) -> usize {
        1 << self.bits
    }

    #[inline]
    pub(super) fn table_of(self, ip: u64) -> usize {
        // Other bits than those that the tables hash by.
        let spread = (ip ^ ip >> 29).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (spread >> 40) as usize & (self.count() - 1)
    }

    /// The number of an address among all, by that in its table.
    #[inline]
    pub(super) fn join(self, table: usize, id: LocatedId) -> LocatedId {
        LocatedId(id.0 << self.bits | table as u32)
    }

    /// The table of a number and that number there.
    #[inline]
    pub(super) fn part(self, id: LocatedId) -> (usize, LocatedId) {
        (
            id.0 as usize & (self.count() - 1),
            LocatedId(id.0 >> self.bits),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_leads_to_its_table() {
        for bits in [0, 1, 4] {
            let split = TableSplit { bits };
            for (table, id) in [(0, 0), (split.count() - 1, 9), (split.count() / 2, 1 << 27)] {
                assert_eq!(
                    split.part(split.join(table, LocatedId(id))),
                    (table, LocatedId(id))
                );
            }
        }
    }

    #[test]
    fn every_table_gets_its_share() {
        let split = TableSplit { bits: 2 };
        let mut counts = [0; 4];
        (0..4000u64).for_each(|nth| counts[split.table_of(0x7f12_3456_0000 + 24 * nth)] += 1);
        assert!(
            counts.iter().all(|count| (500..1500).contains(count)),
            "{counts:?}"
        );
    }
}
