//! A small table before a large one: most addresses come again soon, and a table of all of them outgrows the CPU's
//! caches.

use oxperf_abi::CpuMode;

/// An address of a thread: it lies where it lay when it came before, as long as the mappings have not changed. So what
/// is known of it needs no search of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    ip: u64,
    version: u32,
    mode: CpuMode,
}

/// What is known of the addresses that came last.
#[derive(Debug)]
pub struct RecentAddresses<V: Copy>(Recent<Seen, V>);

impl<V: Copy> Default for RecentAddresses<V> {
    fn default() -> RecentAddresses<V> {
        RecentAddresses(Recent::default())
    }
}

impl<V: Copy> RecentAddresses<V> {
    /// What is known of an address, found by `find` if it did not come lately. `version` is that of the mappings that the
    /// mode's addresses lie in, as [`Mappings::version`](oxperf_machine::Mappings::version) tells.
    #[inline]
    pub fn get(&mut self, version: u32, mode: CpuMode, ip: u64, find: impl FnOnce() -> V) -> V {
        self.0.get(Seen { ip, version, mode }, find)
    }
}

/// A key in a few bits more or less; they need not be spread.
pub(crate) trait Mix {
    fn mix(&self) -> u64;
}

impl Mix for Seen {
    #[inline]
    fn mix(&self) -> u64 {
        self.ip ^ u64::from(self.version) << 20
    }
}

/// The last value seen at each of some thousand hashes.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    slots: Box<[Option<(K, V)>]>,
    /// Number of times that a value had to be found.
    found: usize,
}

impl<K: Copy, V: Copy> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent::of_bits(Self::FEW)
    }
}

impl<K: Copy + Eq + Mix, V: Copy> Recent<K, V> {
    /// The value of a key, made by `find` unless it was the last one at its place.
    #[inline]
    pub(crate) fn get(&mut self, key: K, find: impl FnOnce() -> V) -> V {
        let hash = key.mix().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.slots.len().ilog2());
        let slot = &mut self.slots[hash as usize];
        match slot {
            Some((known, value)) if *known == key => *value,
            _ => {
                let value = find();
                *slot = Some((key, value));
                self.count();
                value
            }
        }
    }

    /// A table that is asked for much becomes a large one; what it knew is soon seen again.
    fn count(&mut self) {
        self.found += 1;
        if self.found == 4 << Self::FEW {
            *self = Recent {
                found: self.found,
                ..Recent::of_bits(Self::MANY)
            };
        }
    }
}

impl<K: Copy, V: Copy> Recent<K, V> {
    /// A table's size at first: pages that are never asked for cost as much as those that are.
    const FEW: u32 = 10;
    const MANY: u32 = 14;

    fn of_bits(bits: u32) -> Recent<K, V> {
        Recent {
            slots: vec![None; 1 << bits].into_boxed_slice(),
            found: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Even and odd keys have a place.
    impl Mix for u32 {
        fn mix(&self) -> u64 {
            u64::from(*self % 2)
        }
    }

    #[test]
    fn a_key_is_found_until_another_takes_its_place() {
        let (mut recent, mut asked) = (Recent::default(), Vec::new());
        for key in [1, 1, 3, 1, 2, 1] {
            let value = recent.get(key, || {
                asked.push(key);
                key * 10
            });
            assert_eq!(value, key * 10);
        }
        assert_eq!(asked, [1, 3, 1, 2]);
    }
}
