//! Ranks: keys are compared once, before anything is sorted by them.

use rayon::prelude::*;

/// The place of every key among the distinct ones; equal keys share a rank.
pub(crate) fn ranks<K: Ord + Send>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut order: Vec<(K, u32)> = keys.zip(0..).collect();
    order.par_sort_unstable();
    let mut ranks = vec![0; order.len()];
    number(&mut ranks, &order, 0);
    ranks
}

/// Gives equal keys of a sorted list one rank, from `next` on; gives the rank behind the last.
pub(crate) fn number<K: PartialEq>(ranks: &mut [u32], sorted: &[(K, u32)], mut next: u32) -> u32 {
    for equals in sorted.chunk_by(|a, b| a.0 == b.0) {
        equals.iter().for_each(|&(_, index)| ranks[index as usize] = next);
        next += 1;
    }
    next
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
        Joined { ranks: vec![0; items], count: 1 }
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
        let pairs =
            self.ranks.iter().zip(numbers).map(|(&rank, number)| u64::from(rank) << 32 | u64::from(number));
        let ranks = ranks(pairs);
        Joined { count: ranks.len() as u64, ranks }
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
