//! Addresses that were met for the first time, from locating to naming.

use oxperf_resolve::LocatedFrame;

use super::named_frames::NamedFrames;

/// Addresses that were not known before, in the order in which they came, and the table of each.
#[derive(Debug, Default)]
pub(super) struct NewAddresses {
    pub(super) frames: Vec<LocatedFrame>,
    pub(super) tables: Vec<usize>,
    /// Number of tables.
    pub(super) count: usize,
}

impl NewAddresses {
    /// The names of each table's addresses, given those of all.
    pub(super) fn by_table(&self, named: NamedFrames) -> Vec<NamedFrames> {
        if self.count == 1 {
            return vec![named];
        }
        let mut parts: Vec<NamedFrames> = (0..self.count).map(|_| NamedFrames::default()).collect();
        for (&table, (own, list)) in self.tables.iter().zip(named.into_entries()) {
            match list {
                Some(list) => parts[table].push_list(own, list),
                None => parts[table].push(own),
            }
        }
        parts
    }
}
