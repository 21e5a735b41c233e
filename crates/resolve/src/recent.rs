//! A small table before a large one: most addresses come again soon, and a table of all of them outgrows the CPU's
//! caches.

/// The last value seen at each of some thousand hashes.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    slots: Box<[Option<(K, V)>]>,
}

impl<K: Copy, V: Copy> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { slots: vec![None; 1 << Self::BITS].into_boxed_slice() }
    }
}

impl<K: Copy + Eq, V: Copy> Recent<K, V> {
    /// The value of a key, made by `find` unless it was the last one at its place. `mix` is the key in a few bits more
    /// or less: it need not be spread.
    #[inline]
    pub(crate) fn get(&mut self, key: K, mix: u64, find: impl FnOnce() -> V) -> V {
        let hash = mix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS);
        let slot = &mut self.slots[hash as usize];
        match slot {
            Some((known, value)) if *known == key => *value,
            _ => {
                let value = find();
                *slot = Some((key, value));
                value
            }
        }
    }
}

impl<K, V> Recent<K, V> {
    const BITS: u32 = 14;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_until_another_takes_its_place() {
        let (mut recent, mut asked) = (Recent::default(), Vec::new());
        for (key, mix) in [(1, 7), (1, 7), (2, 7), (1, 7), (3, 8), (1, 7)] {
            let value = recent.get(key, mix, || {
                asked.push(key);
                key * 10
            });
            assert_eq!(value, key * 10);
        }
        assert_eq!(asked, [1, 2, 1, 3]);
    }
}
