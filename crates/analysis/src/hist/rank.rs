//! Ranks: keys are compared once, before anything is sorted by them.

use rayon::prelude::*;

/// The place of every key among the distinct ones; equal keys share a rank.
pub(crate) fn ranks<K: Ord + Send>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut order: Vec<(K, u32)> = keys.zip(0..).collect();
    order.par_sort_unstable();
    let mut ranks = vec![0; order.len()];
    for (rank, equals) in (0..).zip(order.chunk_by(|a, b| a.0 == b.0)) {
        equals.iter().for_each(|&(_, index)| ranks[index as usize] = rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_share_a_rank() {
        assert_eq!(ranks(["b", "a", "b", "c"].into_iter()), [1, 0, 1, 2]);
        assert_eq!(ranks(std::iter::empty::<u64>()), []);
    }
}
