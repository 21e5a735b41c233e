//! How often each address was hit, for views of single instructions.

use oxperf_resolve::{FrameId as LocatedId, FrameTable};

use super::naming::Naming;
use crate::hist::Weight;
use crate::profile::{AddressCount, Profile};

/// For each event the weight of each located address, by its number.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    events: Vec<Vec<Weight>>,
}

impl Addresses {
    /// Counts a sample.
    #[inline]
    pub(super) fn count(&mut self, event: usize, frame: LocatedId, period: u64) {
        if self.events.len() <= event {
            self.events.resize_with(event + 1, Vec::new);
        }
        let (weights, index) = (&mut self.events[event], frame.0 as usize);
        if weights.len() <= index {
            weights.resize(index + 1, Weight::default());
        }
        weights[index].samples += 1;
        weights[index].period = weights[index].period.wrapping_add(period);
    }

    /// Hands the counts to the events of a profile whose frames are named.
    pub(super) fn give(&self, located: &FrameTable, naming: &Naming, profile: &mut Profile) {
        for (event, weights) in profile.events.iter_mut().zip(&self.events) {
            let hit = (0..).zip(weights).filter(|(_, weight)| weight.samples > 0);
            event.addresses = hit
                .filter_map(|(index, weight)| {
                    let place = located.get(LocatedId(index)).place?;
                    let frame = naming.frame(LocatedId(index));
                    Some(AddressCount { frame, address: place.address, weight: *weight })
                })
                .collect();
        }
    }
}
