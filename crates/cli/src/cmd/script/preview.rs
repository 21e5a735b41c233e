//! The places of coming samples: found before their turn, so that debug information is read for all of them at once, on
//! all cores. When a sample's turn comes its places are known, and what stands there has been looked up.

use std::ops::Range;

use oxperf_machine::Machine;
use oxperf_present::script::FieldSet;
use oxperf_resolve::{Names, Place, PlaceId};
use oxperf_session::SampleEvent;
use rayon::prelude::*;

use super::printer::Printer;

/// Places of one object that a core looks up one after another: they tend to lie in the same unit, which is read once.
const TOGETHER: usize = 8;

/// Where the addresses of coming samples lie.
#[derive(Debug, Default)]
pub(super) struct Preview {
    places: Vec<Option<(PlaceId, Place)>>,
    /// For each sample its part of the places; `None` for one whose places are to be found at its turn.
    samples: Vec<Option<Range<usize>>>,
    /// Which places, by number, have been looked up.
    seen: Vec<bool>,
}

impl Preview {
    /// Where the entries of a sample's chain lie, or its own address if its chain is not shown.
    pub(super) fn of(&self, event: &SampleEvent<'_>) -> Option<&[Option<(PlaceId, Place)>]> {
        let range = self.samples.get(event.ahead?)?.clone()?;
        self.places.get(range)
    }

    /// Whether it is the first time that this place comes.
    fn is_new(&mut self, PlaceId(id): PlaceId) -> bool {
        let index = id as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, false);
        }
        !std::mem::replace(&mut self.seen[index], true)
    }
}

impl Printer<'_> {
    /// Whether debug information is read for what is shown of any event.
    pub(super) fn asks_sources(&self) -> bool {
        self.lines.iter().any(|lines| lines.asks_sources()) && !self.symbols.ask_anything()
    }

    /// Finds the places of samples whose turn comes next, and looks up what debug information says of them.
    pub(super) fn preview(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        let mut preview = std::mem::take(&mut self.preview);
        preview.places.clear();
        preview.samples.clear();
        let mut fresh = Vec::new();
        for (nth, event) in samples.iter().enumerate() {
            let first = preview.places.len();
            let shown = self.shows_sources(machine, event);
            if shown {
                self.find_places(machine, &SampleEvent { ahead: Some(nth), ..*event }, &mut preview.places);
            }
            let found = first..preview.places.len();
            for at in found.clone() {
                if let Some((_, place)) = preview.places[at].filter(|(id, _)| preview.is_new(*id)) {
                    fresh.push(place);
                }
            }
            preview.samples.push(shown.then_some(found));
        }
        self.preview = preview;
        self.names.grow(machine);
        read_sources(&self.names, machine, fresh);
    }

    fn shows_sources(&self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        let view = &self.views[event.event.0];
        let shown = view.fields.contains(FieldSet::IP) && !view.is_branch;
        shown && self.lines[view.lines].asks_sources() && self.filter.takes(machine, event)
    }

    fn find_places(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
        found: &mut Vec<Option<(PlaceId, Place)>>,
    ) {
        let places = &mut self.places;
        if self.views[event.event.0].shows_chain_of(&event.sample) {
            let chain = self.chains.coming(machine, event);
            let located = chain.iter().map(|(mode, ip)| places.locate(machine, event.thread, *mode, *ip));
            found.extend(located);
        } else {
            let ip = event.sample.ip.unwrap_or(0);
            found.push(places.locate(machine, event.thread, event.misc.cpu_mode(), ip));
        }
    }
}

/// Asks for all places once, those of one unit together; the answers stay known.
fn read_sources(names: &Names<'_>, machine: &Machine, mut fresh: Vec<Place>) {
    fresh.sort_unstable_by_key(|place| (place.dso, place.address));
    let objects: Vec<&Place> = fresh.chunk_by(|a, b| a.dso == b.dso).filter_map(<[Place]>::first).collect();
    // The symbols of several objects are read side by side, too.
    objects.par_iter().for_each(|place| {
        names.name(machine, place);
    });
    fresh.par_iter().with_min_len(TOGETHER).for_each(|place| {
        if let Some(source) = names.source(machine, place.dso) {
            source.frames(place.address);
        }
    });
}
