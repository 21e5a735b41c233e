//! The located addresses of a profile.
//!
//! Most frames of a recording without frame pointers are bare addresses, hundreds of thousands of them. Which of them
//! stand at the same address is found once, when all are there, so that no analysis has to look for it again.

use std::ops::Deref;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{DsoId, Frame, FrameId};

/// All frames, by number.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    list: Vec<Frame>,
    /// The frames without a symbol, in order: the first at each address, as call chains show it.
    bare: Vec<Bare>,
    /// The first one of each frame without a symbol that is not the first at its address.
    firsts: FxHashMap<FrameId, FrameId>,
}

/// Where a frame without a symbol stands, as one number: its object, or 0 for none, the address, and the frame. There are
/// hundreds of thousands to sort, and one number is compared faster than three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bare(u128);

impl Bare {
    fn new(frame: &Frame, id: FrameId) -> Bare {
        Bare(Bare::object_of(frame.dso) | u128::from(frame.address) << 32 | u128::from(id.0))
    }

    /// The part of the number that tells the object.
    fn object_of(dso: Option<DsoId>) -> u128 {
        dso.map_or(0, |dso| u128::from(dso.0) + 1) << 96
    }

    fn object(self) -> u128 {
        self.0 >> 96 << 96
    }

    #[inline]
    fn address(self) -> u64 {
        (self.0 >> 32) as u64
    }

    #[inline]
    fn frame(self) -> FrameId {
        FrameId(self.0 as u32)
    }

    /// True if another stands at the same address of the same object.
    fn is_with(self, other: Bare) -> bool {
        self.0 >> 32 == other.0 >> 32
    }
}

impl Frames {
    /// Adds a frame. Whoever adds frames tells them apart.
    pub fn add(&mut self, frame: Frame) -> FrameId {
        self.list.push(frame);
        FrameId(self.list.len() as u32 - 1)
    }

    /// Finds which frames stand at the same address. Of those that are added later nobody knows.
    pub fn seal(&mut self) {
        let bare = self.list.par_iter().zip(0..self.list.len() as u32);
        let bare = bare.filter(|(frame, _)| frame.symbol.is_none());
        self.bare = bare
            .map(|(frame, id)| Bare::new(frame, FrameId(id)))
            .collect();
        self.bare.par_sort_unstable();
        self.firsts.clear();
        for equals in self.bare.chunk_by(|a, b| a.is_with(*b)) {
            if let [first, others @ ..] = equals {
                self.firsts
                    .extend(others.iter().map(|other| (other.frame(), first.frame())));
            }
        }
        self.bare.dedup_by(|bare, first| bare.is_with(*first));
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

    /// The frames without a symbol of an object, or of none.
    pub fn bare_of(&self, dso: Option<DsoId>) -> BareFrames<'_> {
        let object = Bare::object_of(dso);
        let start = self.bare.partition_point(|bare| bare.object() < object);
        let end = self.bare.partition_point(|bare| bare.object() <= object);
        BareFrames(&self.bare[start..end])
    }
}

/// Frames without a symbol of one object.
#[derive(Clone, Copy, Debug)]
pub struct BareFrames<'f>(&'f [Bare]);

impl BareFrames<'_> {
    /// The first at a recorded address.
    #[inline]
    pub fn at(&self, address: u64) -> Option<FrameId> {
        // Most that is asked for is far from all that was recorded.
        let (first, last) = (self.0.first()?, self.0.last()?);
        if !(first.address()..=last.address()).contains(&address) {
            return None;
        }
        let found = self
            .0
            .binary_search_by_key(&address, |bare| bare.address())
            .ok()?;
        Some(self.0[found].frame())
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
        let mut all = Frames {
            list: frames.into_iter().collect(),
            ..Frames::default()
        };
        all.seal();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, SymbolId};

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
            outermost: true,
        };
        let (one, moved) = (bare(9, Level::User), bare(5, Level::User));
        let elsewhere = Frame { dso: None, ..one };
        let named = Frame {
            symbol: Some(SymbolId(0)),
            ..one
        };
        let far = Frame { address: 90, ..one };
        let frames: Frames = [named, one, moved, elsewhere, far].into_iter().collect();
        let firsts = [0, 1, 2, 3, 4].map(|id| frames.first_at(FrameId(id)).0);
        assert_eq!(firsts, [0, 1, 1, 3, 4]);
        assert_eq!(frames.bare_of(None).at(9), Some(FrameId(3)));
        let object = frames.bare_of(Some(DsoId(1)));
        assert_eq!(
            [8, 9, 10, 90, 91].map(|at| object.at(at).map(|id| id.0)),
            [None, Some(1), None, Some(4), None]
        );
        assert_eq!(frames.bare_of(Some(DsoId(2))).at(9), None);
    }
}
