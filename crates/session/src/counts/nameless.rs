//! Events that no kernel counts: times of the measurement, facts about the machine. Their counters have no ids, so that
//! records name none of them; what belongs to which follows from the order.

use std::collections::BTreeMap;

use super::CounterPlace;
use crate::{EventIndex, EventTable};

/// The smallest of the numbers of PMUs that a tool has by itself.
const TOOLS_PMUS: u32 = 0xfffe_0000;

/// The events of a recording that no kernel counts, by their indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Nameless {
    events: Vec<usize>,
    /// For each of them the first that counts the same: counts of the others say nothing new.
    firsts: Vec<usize>,
    /// The number of them that were described so far, and the rank of the last record about the last one.
    described: usize,
    last_rank: u32,
    /// Counts in this round at each place.
    counted: BTreeMap<CounterPlace, usize>,
}

impl Nameless {
    /// Takes the events of a recording.
    pub(super) fn set_events(&mut self, table: &EventTable) {
        let events = table.events().iter().enumerate();
        let is_own =
            |index: usize, kind: u32| kind >= TOOLS_PMUS && !table.has_id(EventIndex(index));
        let own = events.filter(|(index, event)| is_own(*index, event.attr.kind.0));
        let mut seen = BTreeMap::new();
        (self.events, self.firsts) = own
            .map(|(index, event)| {
                let what = (event.attr.kind.0, event.attr.config);
                (index, *seen.entry(what).or_insert(index))
            })
            .unzip();
    }

    /// The event that the next count at a place belongs to.
    pub(super) fn counted(&mut self, place: CounterPlace) -> Option<usize> {
        let number = self.counted.entry(place).or_default();
        let event = self.firsts.get(*number).copied();
        *number += 1;
        event
    }

    /// The event that the next description belongs to: the next event begins where the ranks do not rise.
    pub(super) fn described(&mut self, rank: u32) -> Option<usize> {
        if rank <= self.last_rank {
            self.described += 1;
        }
        self.last_rank = rank;
        self.events.get(self.described).copied()
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self) {
        self.counted.clear();
    }
}
