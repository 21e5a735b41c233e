//! Loops in a list of branches: rounds that are like the one before are left out.

use oxperf_abi::BranchEntry;

/// A branch, with the rounds that were left out before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) branch: BranchEntry,
    pub(super) rounds: u32,
    /// Cycles of the last round that was left out.
    pub(super) cycles: u64,
}

/// Places of branches are remembered by hash, and only the first of those with one hash: the same loops are found as by
/// perf.
const SLOTS: usize = 127;

fn slot(address: u64) -> usize {
    const GOLDEN_RATIO: u64 = 0x61C8_8646_80B5_83EB;
    (address.wrapping_mul(GOLDEN_RATIO) >> 57) as usize % SLOTS
}

/// The branches without repeated rounds.
pub(super) fn without_loops(branches: &[BranchEntry]) -> Vec<Taken> {
    let taken = |&branch: &BranchEntry| Taken {
        branch,
        rounds: 0,
        cycles: 0,
    };
    let mut left: Vec<Taken> = branches.iter().map(taken).collect();
    let mut first_at = [None; SLOTS];
    let mut at = 0;
    while at < left.len() {
        let from = left[at].branch.from;
        let first = *first_at[slot(from)].get_or_insert(at);
        if first < at && left[first].branch.from == from {
            leave_round_out(&mut left, first, at);
        }
        at += 1;
    }
    left
}

/// Leaves the branches from `at` on out that do what those from `first` to `at` did.
fn leave_round_out(left: &mut Vec<Taken>, first: usize, at: usize) {
    let length = (at - first).min(left.len() - at);
    let from = |index: usize| left[index].branch.from;
    if (0..length).any(|step| from(first + step) != from(at + step)) {
        return;
    }
    let cycles = left[at..at + length]
        .iter()
        .map(|taken| u64::from(taken.branch.cycles()))
        .sum();
    if let Some(next) = left.get_mut(at + length) {
        next.rounds += 1;
        next.cycles = cycles;
    }
    left.drain(at..at + length);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Branches from these addresses, each with as many cycles.
    fn shortened(addresses: &[u64]) -> Vec<(u64, u32, u64)> {
        let branch = |&from: &u64| BranchEntry {
            from,
            to: 1,
            flags: from << 4,
        };
        let branches: Vec<BranchEntry> = addresses.iter().map(branch).collect();
        without_loops(&branches)
            .iter()
            .map(|taken| (taken.branch.from, taken.rounds, taken.cycles))
            .collect()
    }

    #[test]
    fn a_round_like_the_one_before_is_left_out() {
        assert_eq!(shortened(&[1, 2, 3]), [(1, 0, 0), (2, 0, 0), (3, 0, 0)]);
        assert_eq!(
            shortened(&[1, 2, 1, 2, 9]),
            [(1, 0, 0), (2, 0, 0), (9, 1, 3)]
        );
        assert_eq!(
            shortened(&[1, 2, 1, 3]),
            [(1, 0, 0), (2, 0, 0), (1, 0, 0), (3, 0, 0)]
        );
        assert_eq!(shortened(&[5, 1, 2, 1]), [(5, 0, 0), (1, 0, 0), (2, 0, 0)]);
        assert_eq!(shortened(&[]), []);
    }
}
