//! What is known of places, by place.

use oxperf_resolve::DsoAddress;
use rustc_hash::FxHashMap;

/// Values of places: a table for each dso, so that what is run at a time stays in the CPU's caches.
#[derive(Debug)]
pub(crate) struct ByDsoAddress<T>(Vec<FxHashMap<u64, T>>);

impl<T> Default for ByDsoAddress<T> {
    fn default() -> ByDsoAddress<T> {
        ByDsoAddress(Vec::new())
    }
}

impl<T: Copy> ByDsoAddress<T> {
    /// What is known of a place.
    #[inline]
    pub(crate) fn get(&self, place: DsoAddress) -> Option<T> {
        self.0
            .get(place.dso.0 as usize)?
            .get(&place.address)
            .copied()
    }

    /// Notes what a place is; gives it back.
    pub(crate) fn insert(&mut self, place: DsoAddress, value: T) -> T {
        let dso = place.dso.0 as usize;
        if self.0.len() <= dso {
            self.0.resize_with(dso + 1, FxHashMap::default);
        }
        self.0[dso].insert(place.address, value);
        value
    }
}
