//! Numbers of cached values by the visit of a block: not branching at its end, or branching.

use std::num::NonZeroU32;

use intel_pt::BlockVisit;

/// The number of a cached value for each visit that has one.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct VisitSlots {
    /// Numbers, counted from 1, by the index of the block: not branching and branching.
    blocks: Vec<[Option<NonZeroU32>; 2]>,
}

impl VisitSlots {
    /// The number for a visit.
    #[inline]
    pub(super) fn get(&self, visit: BlockVisit) -> Option<usize> {
        let slots = self.blocks.get(visit.block().index())?;
        slots[usize::from(visit.taken())].map(|number| number.get() as usize - 1)
    }

    /// Sets the number for a visit.
    pub(super) fn set(&mut self, visit: BlockVisit, number: usize) {
        self.set_at(visit.block().index(), visit.taken(), number);
    }

    /// Sets the number for visits of the block with an index.
    pub(super) fn set_at(&mut self, index: usize, taken: bool, number: usize) {
        if self.blocks.len() <= index {
            self.blocks.resize(index + 1, [None; 2]);
        }
        self.blocks[index][usize::from(taken)] = NonZeroU32::new(number as u32 + 1);
    }
}
