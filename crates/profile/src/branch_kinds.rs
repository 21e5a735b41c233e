//! How many branches of each kind samples carried, as far as the CPU tells kinds.

use oxperf_abi::BranchEntry;

/// Counts of branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchKinds {
    /// By [`BranchEntry::kind`].
    pub kinds: [u64; BranchEntry::KINDS],
    /// Conditional ones that led to higher addresses.
    pub forward: u64,
    /// Conditional ones that did not.
    pub backward: u64,
    /// Those that led to another page of 4 KB, but stayed in their 2 MB.
    pub crossed_4k: u64,
    /// Those that led to another area of 2 MB.
    pub crossed_2m: u64,
}

impl BranchKinds {
    /// Counts a branch so many times; one of no kind, or that comes from nowhere, is not counted.
    pub fn add(&mut self, branch: &BranchEntry, times: u64) {
        let BranchEntry { from, to, .. } = *branch;
        let Some(kind) = branch.kind().filter(|_| from != 0) else {
            return;
        };
        self.kinds[kind] += times;
        if kind == BranchEntry::CONDITIONAL {
            *(if to > from {
                &mut self.forward
            } else {
                &mut self.backward
            }) += times;
        }
        let differ = |bits: u32| from >> bits != to >> bits;
        if differ(21) {
            self.crossed_2m += times;
        } else if differ(12) {
            self.crossed_4k += times;
        }
    }

    /// The branches of any kind.
    pub fn total(&self) -> u64 {
        self.kinds.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_count_by_kind_direction_and_distance() {
        const CONDITIONAL: u64 = 1 << 20;
        let mut kinds = BranchKinds::default();
        for (from, to, flags) in [
            (0x40_0120, 0x40_0100, CONDITIONAL),
            (0x40_0100, 0x40_2100, CONDITIONAL),
            (0x40_0100, 0x80_2100, 2 << 20),
            (0x40_0100, 0x40_0110, 15 << 20 | 1 << 26),
            (0, 0x40_0110, CONDITIONAL),
            (0x40_0100, 0x80_2100, 0),
        ] {
            kinds.add(&BranchEntry { from, to, flags }, 1);
        }
        assert_eq!(
            (
                kinds.forward,
                kinds.backward,
                kinds.crossed_4k,
                kinds.crossed_2m
            ),
            (1, 1, 1, 1)
        );
        assert_eq!(
            (
                kinds.kinds[1],
                kinds.kinds[2],
                kinds.kinds[16],
                kinds.total()
            ),
            (2, 1, 1, 4)
        );
    }
}
