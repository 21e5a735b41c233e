//! The places of code in a profile, for tools that show code by address: each address of an object once, with all the
//! functions that it belongs to.
//!
//! The profile has to keep addresses apart. Its chains hold a frame for each function of an address, the innermost first;
//! the last of them, which has the code, ends the place.

use oxperf_profile::{DsoId, Frame, FrameId, NodeId, Profile, SymbolId};
use rustc_hash::FxHashMap;

/// The number of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaceId(pub u32);

impl PlaceId {
    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The places of all chains of a profile.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The frames of each, innermost first; never none.
    list: Vec<Box<[FrameId]>>,
    /// The place that begins with a frame.
    of_frame: Vec<Option<PlaceId>>,
}

/// The address that makes a place, and the innermost function there.
type PlaceKey = (Option<DsoId>, u64, Option<SymbolId>);

impl Places {
    /// The places of a profile.
    pub fn of(profile: &Profile) -> Places {
        let mut places = Places {
            of_frame: vec![None; profile.frames.len()],
            ..Places::default()
        };
        let mut known = FxHashMap::default();
        for node in 1..profile.chains.node_count() as u32 {
            let Some((_, run)) = profile.chains.node(NodeId(node)) else {
                continue;
            };
            let mut frames = profile.chains.path_to_root(NodeId(node));
            let mut left = run.len();
            while left > 0 {
                let place = next_place(profile, &mut frames);
                left = left.saturating_sub(place.len().max(1));
                places.add(profile, place, &mut known);
            }
        }
        places
    }

    fn add(
        &mut self,
        profile: &Profile,
        frames: Vec<FrameId>,
        known: &mut FxHashMap<PlaceKey, PlaceId>,
    ) {
        let Some(&first) = frames.first() else { return };
        let Some(slot @ None) = self.of_frame.get_mut(first.index()) else {
            return;
        };
        let Some(frame) = profile.frames.get(first.index()) else {
            return;
        };
        let list = &mut self.list;
        *slot = Some(*known.entry(key(frame)).or_insert_with(|| {
            list.push(frames.into());
            PlaceId(list.len() as u32 - 1)
        }));
    }

    /// The number of places.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The frames of a place, innermost first.
    pub fn frames(&self, place: PlaceId) -> &[FrameId] {
        self.list.get(place.index()).map_or(&[], |frames| &**frames)
    }

    /// Each place by its number: its frames, innermost first.
    pub fn iter(&self) -> impl Iterator<Item = (PlaceId, &[FrameId])> + '_ {
        (0..)
            .map(PlaceId)
            .zip(self.list.iter().map(|frames| &**frames))
    }

    /// The places of a chain, innermost first.
    pub fn of_chain<'a>(
        &'a self,
        profile: &'a Profile,
        chain: NodeId,
    ) -> impl Iterator<Item = PlaceId> + 'a {
        let mut frames = profile.chains.path_to_root(chain);
        std::iter::from_fn(move || {
            let place = next_place(profile, &mut frames);
            self.of_frame.get(place.first()?.index()).copied()?
        })
    }
}

/// The frames of the next place; none at the end of the chain.
fn next_place(profile: &Profile, frames: &mut impl Iterator<Item = FrameId>) -> Vec<FrameId> {
    let mut place = Vec::new();
    for frame in frames {
        place.push(frame);
        let known = profile.frames.get(frame.index());
        if known.is_none_or(|frame| frame.outermost) {
            break;
        }
    }
    place
}

fn key(frame: &Frame) -> PlaceKey {
    match frame.dso {
        Some(_) => (frame.dso, frame.dso_address, frame.symbol),
        None => (None, frame.address, frame.symbol),
    }
}
