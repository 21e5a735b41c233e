//! The samples of each address, for views of single instructions.

use oxperf_resolve::{FrameId as LocatedId, LocatedFrame as Located};

use super::batch::Batch;
use super::named_frames::NamedFrames;
use oxperf_profile::SampleTotals;
use oxperf_profile::{AddressCount, Profile};

/// For each event the weight of each located address, by its number.
#[derive(Debug, Default)]
pub(super) struct AddressCounts {
    events: Vec<Vec<SampleTotals>>,
    /// The address of each in the object's own space; `None` where nothing is mapped.
    places: Vec<Option<u64>>,
}

impl AddressCounts {
    /// Counts the samples of a batch.
    pub(super) fn count(&mut self, batch: &Batch) {
        for sample in batch.samples.iter().filter(|sample| sample.last) {
            if let Some(places) = batch.located_sample(sample) {
                self.count_sample(sample.event as usize, places.own, sample.period);
            }
        }
    }

    fn count_sample(&mut self, event: usize, frame: LocatedId, period: u64) {
        if self.events.len() <= event {
            self.events.resize_with(event + 1, Vec::new);
        }
        let (weights, index) = (&mut self.events[event], frame.0 as usize);
        if weights.len() <= index {
            weights.resize(index + 1, SampleTotals::default());
        }
        weights[index].samples += 1;
        weights[index].period = weights[index].period.wrapping_add(period);
    }

    /// Adds further located addresses.
    pub(super) fn locate(&mut self, fresh: &[Located]) {
        self.places.extend(
            fresh
                .iter()
                .map(|frame| frame.place.map(|place| place.address)),
        );
    }

    /// Hands the counts to the events of a profile whose frames are named.
    pub(super) fn give(&self, named: &NamedFrames, profile: &mut Profile) {
        for (event, weights) in profile.events.iter_mut().zip(&self.events) {
            let located = (0..).map(LocatedId).zip(&self.places).zip(weights);
            let hit = located.filter(|(_, weight)| weight.samples > 0);
            event.addresses = hit
                .filter_map(|((id, place), weight)| {
                    let (frame, address) = (named.frame(id), (*place)?);
                    Some(AddressCount {
                        frame,
                        address,
                        weight: *weight,
                    })
                })
                .collect();
        }
    }
}
