//! Ranks: text is compared once, before anything is sorted by it.

/// The place of every text among the distinct ones in byte order; equal texts share a rank.
pub(crate) fn ranks<'a>(texts: impl ExactSizeIterator<Item = &'a str>) -> Vec<u32> {
    let texts: Vec<&str> = texts.collect();
    let mut order: Vec<u32> = (0..).take(texts.len()).collect();
    order.sort_unstable_by_key(|&i| texts[i as usize]);
    let mut ranks = vec![0; texts.len()];
    let mut rank = 0;
    for (place, &i) in order.iter().enumerate() {
        let before = place.checked_sub(1).map(|p| texts[order[p] as usize]);
        rank += u32::from(before.is_some_and(|text| text != texts[i as usize]));
        ranks[i as usize] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_rank() {
        assert_eq!(ranks(["b", "a", "b", "c"].into_iter()), [1, 0, 1, 2]);
        assert_eq!(ranks([].into_iter()), []);
    }
}
