//! The located addresses of a profile.
//!
//! Most frames of a recording without frame pointers are bare addresses, hundreds of thousands of them. Which of them
//! stand at the same address is found when they are added, so that no analysis has to look for it again.

use std::ops::Deref;

use rustc_hash::FxHashMap;

use super::{DsoId, Frame, FrameId};

/// A mebibyte of an object's addresses, or of what is not mapped. Each has a table of its own, because a process has most
/// of its addresses in few of them: those that it works on stay in the CPU's caches.
type Region = (Option<DsoId>, u64);

fn region(dso: Option<DsoId>, address: u64) -> Region {
    (dso, address >> 20)
}

/// All frames, by number.
#[derive(Debug, Default)]
pub struct Frames {
    list: Vec<Frame>,
    /// The first frame without a symbol at each address, as call chains show it.
    bare: FxHashMap<Region, FxHashMap<u64, FrameId>>,
    /// Frames without a symbol that differ from the first at their address in something else.
    twins: FxHashMap<Frame, FrameId>,
    firsts: FxHashMap<FrameId, FrameId>,
}

impl Frames {
    /// Adds a frame. One without a symbol that is there already keeps its number; those with symbols are told apart by
    /// whoever adds them.
    pub fn add(&mut self, frame: Frame) -> FrameId {
        let next = FrameId(self.list.len() as u32);
        if frame.symbol.is_none() {
            let region = self.bare.entry(region(frame.dso, frame.address)).or_default();
            let first = *region.entry(frame.address).or_insert(next);
            if first != next {
                return self.add_twin(frame, first);
            }
        }
        self.list.push(frame);
        next
    }

    fn add_twin(&mut self, frame: Frame, first: FrameId) -> FrameId {
        if self.list[first.index()] == frame {
            return first;
        }
        let next = FrameId(self.list.len() as u32);
        let twin = *self.twins.entry(frame).or_insert(next);
        if twin == next {
            self.list.push(frame);
            self.firsts.insert(twin, first);
        }
        twin
    }

    /// The first frame without a symbol that stands at the same recorded address of the same object; itself for all
    /// others.
    #[inline]
    pub fn first_at(&self, id: FrameId) -> FrameId {
        if self.firsts.is_empty() {
            return id;
        }
        self.firsts.get(&id).copied().unwrap_or(id)
    }

    /// The first frame without a symbol at a recorded address.
    #[inline]
    pub fn bare(&self, dso: Option<DsoId>, address: u64) -> Option<FrameId> {
        self.bare.get(&region(dso, address))?.get(&address).copied()
    }
}

impl Deref for Frames {
    type Target = [Frame];

    fn deref(&self) -> &[Frame] {
        &self.list
    }
}

impl<'a> IntoIterator for &'a Frames {
    type Item = &'a Frame;
    type IntoIter = std::slice::Iter<'a, Frame>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl FromIterator<Frame> for Frames {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Frames {
        let mut all = Frames::default();
        frames.into_iter().for_each(|frame| {
            all.add(frame);
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Level, SymbolId};

    #[test]
    fn bare_addresses_know_who_was_there_first() {
        let bare = |dso_address, level| Frame {
            dso: Some(DsoId(1)),
            symbol: None,
            address: 9,
            dso_address,
            level,
            source: None,
            alone: false,
        };
        let (one, moved) = (bare(9, Level::User), bare(5, Level::User));
        let elsewhere = Frame { dso: None, ..one };
        let named = Frame { symbol: Some(SymbolId(0)), ..one };
        let mut frames = Frames::default();
        let ids = [one, moved, one, elsewhere, moved, named, named].map(|frame| frames.add(frame).0);
        assert_eq!(ids, [0, 1, 0, 2, 1, 3, 4]);
        let firsts = [0, 1, 2, 3].map(|id| frames.first_at(FrameId(id)).0);
        assert_eq!(firsts, [0, 0, 2, 3]);
        assert_eq!(frames.bare(None, 9), Some(FrameId(2)));
        assert_eq!(frames.bare(None, 8), None);
        assert_eq!(frames.len(), 5);
    }
}
