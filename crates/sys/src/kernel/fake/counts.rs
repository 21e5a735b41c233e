//! Scripted values of counters: what each read of an event finds.

use std::collections::HashMap;

/// The state of a counter at a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FakeCount {
    /// The count.
    pub value: u64,
    /// Time enabled, ns.
    pub enabled: u64,
    /// Time counting, ns: less than `enabled` where the counter was shared with others.
    pub running: u64,
    /// Samples lost.
    pub lost: u64,
}

/// The counts of each event, by its number, and how many of them were read.
#[derive(Debug, Default)]
pub(super) struct CountScripts {
    scripts: HashMap<usize, Vec<FakeCount>>,
    reads: HashMap<usize, usize>,
}

impl CountScripts {
    /// Sets the counts that the reads of an event find, in their order; the last one stays.
    pub(super) fn set(&mut self, event: usize, counts: Vec<FakeCount>) {
        self.scripts.insert(event, counts);
    }

    /// The count of the next read of an event; `None` without a script.
    pub(super) fn next(&mut self, event: usize) -> Option<FakeCount> {
        let counts = self.scripts.get(&event)?;
        let read = self.reads.entry(event).or_default();
        let count = counts.get(*read).or(counts.last());
        *read += 1;
        count.copied()
    }
}
