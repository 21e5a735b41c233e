//! Values by number, each made when it is first asked for, by whichever thread asks; how many there will be is not known.

use std::sync::OnceLock;

/// Blocks of values, each twice as long as the one before, so that none ever moves.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    blocks: [OnceLock<Box<[OnceLock<T>]>>; BLOCKS],
}

/// Values in the first block, as a power of two.
const FIRST_BITS: u32 = 6;
const BLOCKS: usize = (u32::BITS - FIRST_BITS + 1) as usize;

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots {
            blocks: [const { OnceLock::new() }; BLOCKS],
        }
    }
}

impl<T> Slots<T> {
    /// The value with a number. Who asks while it is made waits for it.
    #[inline]
    pub(crate) fn get(&self, number: u32, make: impl FnOnce() -> T) -> &T {
        let (block, length, place) = place(number);
        let block = self.blocks[block]
            .get_or_init(|| std::iter::repeat_with(OnceLock::new).take(length).collect());
        block[place].get_or_init(make)
    }

    /// The values that are there.
    pub(crate) fn made(&self) -> impl Iterator<Item = &T> {
        let blocks = self.blocks.iter().filter_map(OnceLock::get);
        blocks.flatten().filter_map(OnceLock::get)
    }

    /// Returns whether the value is there.
    pub(crate) fn has(&self, number: u32) -> bool {
        let (block, _, place) = place(number);
        self.blocks[block]
            .get()
            .is_some_and(|block| block[place].get().is_some())
    }
}

/// The block of a number, how many values that has, and which of them it is.
#[inline]
fn place(number: u32) -> (usize, usize, usize) {
    // Counted from the first block's length, the highest bit tells the block, the rest the place in it.
    let place = u64::from(number) + (1 << FIRST_BITS);
    let bits = place.ilog2();
    let length = 1_usize << bits;
    (
        (bits - FIRST_BITS) as usize,
        length,
        place as usize - length,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_value_of_its_own_that_is_made_once() {
        let slots = Slots::default();
        for number in [0, 63, 64, 191, 192, 70_000] {
            assert!(!slots.has(number));
            assert_eq!(*slots.get(number, || number), number);
            assert!(slots.has(number) && !slots.has(number + 1));
        }
        let numbers = [0, 63, 64, 191, 192, 70_000];
        for number in numbers {
            assert_eq!(*slots.get(number, || unreachable!()), number);
        }
        assert!(slots.made().copied().eq(numbers));
    }
}
