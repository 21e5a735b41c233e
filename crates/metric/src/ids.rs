//! The set of names that an expression refers to, in perf's order.

/// A set of names. Its order is that of perf's hash table, because perf opens and prints the events of a metric in that
/// order: buckets by the upper bits of a multiplicative hash, new names first in their bucket.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetricIds {
    /// Names of a bucket, newest last. The number of buckets is a power of two, or 0 before the first name.
    buckets: Vec<Vec<String>>,
    len: usize,
}

/// Buckets of the smallest table.
const FIRST_BUCKETS: usize = 4;

/// 2 to the 64th, divided by the golden ratio.
const GOLDEN: u64 = 11_400_714_819_323_198_485;

impl MetricIds {
    /// The set of one name.
    pub fn of(id: impl Into<String>) -> MetricIds {
        let mut ids = MetricIds::default();
        ids.insert(id.into());
        ids
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether `id` is in the set.
    pub fn contains(&self, id: &str) -> bool {
        !self.buckets.is_empty() && self.buckets[self.bucket(id)].iter().any(|name| name == id)
    }

    /// Returns whether every name of `other` is in the set.
    pub fn includes(&self, other: &MetricIds) -> bool {
        other.iter().all(|id| self.contains(id))
    }

    /// Adds a name; one that is there keeps its place.
    pub fn insert(&mut self, id: String) {
        if self.contains(&id) {
            return;
        }
        if (self.len + 1) * 4 / 3 > self.buckets.len() {
            self.grow();
        }
        let bucket = self.bucket(&id);
        self.buckets[bucket].push(id);
        self.len += 1;
    }

    /// Takes a name out, and returns whether it was there. The table does not shrink.
    pub fn remove(&mut self, id: &str) -> bool {
        if self.buckets.is_empty() {
            return false;
        }
        let bucket = self.bucket(id);
        let names = &mut self.buckets[bucket];
        let before = names.len();
        names.retain(|name| name != id);
        let removed = names.len() < before;
        self.len -= usize::from(removed);
        removed
    }

    /// The union of two sets: the smaller is added to the larger.
    pub fn union(self, other: MetricIds) -> MetricIds {
        let (mut larger, smaller) = if self.len < other.len {
            (other, self)
        } else {
            (self, other)
        };
        for id in smaller.iter() {
            larger.insert(id.to_owned());
        }
        larger
    }

    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let newest_first = |names: &'_ Vec<String>| names.len();
        debug_assert_eq!(
            self.buckets.iter().map(newest_first).sum::<usize>(),
            self.len
        );
        self.buckets
            .iter()
            .flat_map(|names| names.iter().rev().map(String::as_str))
    }

    fn grow(&mut self) {
        let size = (self.buckets.len() * 2).max(FIRST_BUCKETS);
        let old = std::mem::replace(&mut self.buckets, vec![Vec::new(); size]);
        for id in old.into_iter().flat_map(|names| names.into_iter().rev()) {
            let bucket = self.bucket(&id);
            self.buckets[bucket].push(id);
        }
    }

    /// The bucket of a name in a table that has buckets.
    fn bucket(&self, id: &str) -> usize {
        let bits = self.buckets.len().trailing_zeros();
        (hash(id).wrapping_mul(GOLDEN) >> (u64::BITS - bits)) as usize
    }
}

fn hash(id: &str) -> u64 {
    let add = |hash: u64, byte: u8| {
        // Bytes are signed on the machines whose order is reproduced here.
        hash.wrapping_mul(31).wrapping_add(byte as i8 as i64 as u64)
    };
    id.bytes().fold(0, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_perfs() {
        // `perf7 stat -vv -M tma_core_bound` on Skylake.
        let mut ids = MetricIds::default();
        for id in ["cpu-cycles", "instructions"] {
            ids.insert(id.to_owned());
        }
        assert_eq!(
            ids.iter().collect::<Vec<_>>(),
            ["cpu-cycles", "instructions"]
        );
        let turned = MetricIds::of("instructions").union(MetricIds::of("cpu-cycles"));
        assert_eq!(
            turned.iter().collect::<Vec<_>>(),
            ["cpu-cycles", "instructions"]
        );
    }

    #[test]
    fn a_set_holds_each_name_once() {
        let mut ids = MetricIds::default();
        let names: Vec<String> = (0..100).map(|number| format!("event{number}")).collect();
        for name in names.iter().chain(&names) {
            ids.insert(name.clone());
        }
        assert_eq!((ids.len(), ids.iter().count()), (100, 100));
        assert!(names.iter().all(|name| ids.contains(name)));
        assert!(ids.remove("event7") && !ids.remove("event7") && !ids.contains("event7"));
        assert_eq!(ids.len(), 99);
        assert!(!MetricIds::default().remove("event7") && !MetricIds::default().contains(""));
    }

    #[test]
    fn unions_and_subsets() {
        let both = MetricIds::of("a").union(MetricIds::of("b"));
        assert!(both.includes(&MetricIds::of("b")) && !MetricIds::of("b").includes(&both));
        assert_eq!(both.clone().union(both.clone()).len(), 2);
        assert!(both.includes(&MetricIds::default()));
        assert!(MetricIds::default().union(MetricIds::default()).is_empty());
    }
}
