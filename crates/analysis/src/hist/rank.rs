//! Ranks: keys are compared once, before anything is sorted by them.

use rayon::prelude::*;

/// An item behind a number that it is to be sorted by, both as one number: hundreds of thousands of these are sorted, and
/// to compare them takes no branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbered(u128);

impl Numbered {
    #[inline]
    pub(crate) fn new(number: u64, item: u32) -> Numbered {
        Numbered(u128::from(number) << 32 | u128::from(item))
    }

    /// By a number below zero or above it.
    #[inline]
    pub(crate) fn signed(number: i64, item: u32) -> Numbered {
        Numbered::new(number.cast_unsigned() ^ 1 << 63, item)
    }

    #[inline]
    pub(crate) fn number(self) -> u64 {
        (self.0 >> 32) as u64
    }

    #[inline]
    pub(crate) fn item(self) -> u32 {
        self.0 as u32
    }
}

/// The place of every key among the distinct ones; equal keys share a rank.
pub(crate) fn ranks<K: Ord + Send>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut order: Vec<(K, u32)> = keys.zip(0..).collect();
    order.par_sort_unstable();
    let mut ranks = vec![0; order.len()];
    number(
        &mut ranks,
        order.iter().map(|(key, index)| (key, *index)),
        0,
    );
    ranks
}

/// Gives equal keys of a sorted list one rank, from `next` on; gives the rank behind the last.
pub(crate) fn number<K: PartialEq>(
    ranks: &mut [u32],
    mut sorted: impl Iterator<Item = (K, u32)>,
    mut next: u32,
) -> u32 {
    let Some((mut last, first)) = sorted.next() else {
        return next;
    };
    ranks[first as usize] = next;
    for (key, index) in sorted {
        if key != last {
            (last, next) = (key, next + 1);
        }
        ranks[index as usize] = next;
    }
    next + 1
}

/// Ranks by several keys, joined one after another. Nothing is sorted while the numbers stay small.
#[derive(Debug)]
pub(crate) struct Joined {
    ranks: Vec<u32>,
    /// All ranks are below.
    count: u64,
}

impl Joined {
    /// So many items, not told apart yet.
    pub(crate) fn alike(items: usize) -> Joined {
        Joined {
            ranks: vec![0; items],
            count: 1,
        }
    }

    /// What is still alike is told apart by numbers below `count`.
    #[must_use]
    pub(crate) fn then(mut self, numbers: impl Iterator<Item = u32>, count: usize) -> Joined {
        let (step, count) = (count as u64, self.count.saturating_mul(count as u64));
        if count <= 1 << 32 {
            self.ranks
                .iter_mut()
                .zip(numbers)
                .for_each(|(rank, number)| *rank = *rank * step as u32 + number);
            return Joined { count, ..self };
        }
        let pairs = self
            .ranks
            .iter()
            .zip(numbers)
            .map(|(&rank, number)| u64::from(rank) << 32 | u64::from(number));
        let ranks = ranks(pairs);
        Joined {
            count: ranks.len() as u64,
            ranks,
        }
    }

    /// The same by keys of any kind.
    #[must_use]
    pub(crate) fn then_by<K: Ord + Send>(self, keys: impl Iterator<Item = K>) -> Joined {
        let (ranks, count) = (ranks(keys), self.ranks.len());
        self.then(ranks.into_iter(), count)
    }

    /// The ranks, not all of which need be there.
    pub(crate) fn into_ranks(self) -> Vec<u32> {
        self.ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_share_a_rank() {
        assert_eq!(ranks(["b", "a", "b", "c"].into_iter()), [1, 0, 1, 2]);
        assert_eq!(ranks(std::iter::empty::<u64>()), []);
    }

    #[test]
    fn numbers_below_zero_come_first() {
        let mut sorted = [3, -1, i64::MAX, i64::MIN, 0].map(|number| Numbered::signed(number, 7));
        sorted.sort_unstable();
        let numbers = sorted.map(|numbered| (numbered.number() ^ 1 << 63).cast_signed());
        assert_eq!(numbers, [i64::MIN, -1, 0, 3, i64::MAX]);
        assert!(Numbered::new(5, 1) < Numbered::new(5, 2) && sorted[0].item() == 7);
    }

    #[test]
    fn large_numbers_stand_like_small_ones() {
        let (first, second) = ([2, 0, 2, 1], [5, 9, 4, 7]);
        let joined = |counts: [usize; 2]| {
            let alike = Joined::alike(4).then(first.into_iter(), counts[0]);
            alike.then(second.into_iter(), counts[1]).into_ranks()
        };
        assert_eq!(joined([3, 10]), [25, 9, 24, 17]);
        assert_eq!(joined([1 << 20, 1 << 20]), [3, 0, 2, 1]);
        assert_eq!(joined([1 << 16, 1 << 16]), [131_077, 9, 131_076, 65_543]);
    }
}
