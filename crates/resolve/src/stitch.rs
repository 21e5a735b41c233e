//! Calls that the CPU no longer kept when a sample was taken, but did at the sample of the thread before.
//!
//! The CPU keeps the last calls that have not returned in a ring of registers: in a deep stack the outermost callers
//! are overwritten. Where the outermost call that is left stood in the same register at the sample before, with all that
//! are next to it, the callers that were known then are still its callers.

use oxperf_abi::BranchEntry;
use oxperf_machine::ThreadId;
use oxperf_wire::BranchStack;
use rustc_hash::FxHashMap;

/// Most callers that are remembered of a thread; of more the outermost are forgotten.
const MOST: usize = 1024;

/// The calls of every thread that are remembered.
#[derive(Debug)]
pub(crate) struct Stitches {
    /// Number of calls that the CPU keeps.
    registers: u64,
    threads: FxHashMap<ThreadId, Memory>,
}

/// The sample before, and the callers that were overwritten before it.
#[derive(Debug, Default)]
struct Memory {
    /// The register of its newest call.
    newest: u64,
    /// Its calls, newest first.
    calls: Vec<BranchEntry>,
    /// Addresses of callers beyond those that the CPU kept, outermost first.
    beyond: Vec<u64>,
}

impl Stitches {
    /// For a CPU that keeps so many calls.
    pub(crate) fn new(registers: u32) -> Stitches {
        Stitches {
            registers: registers.into(),
            threads: FxHashMap::default(),
        }
    }

    /// The addresses of a thread's callers beyond those of its next sample, outermost first.
    pub(crate) fn beyond(&mut self, thread: ThreadId, calls: &BranchStack<'_>) -> &[u64] {
        let Some(newest) = calls.hw_index else {
            return &[];
        };
        let memory = self.threads.entry(thread).or_default();
        let now: Vec<BranchEntry> = calls.entries().collect();
        match memory.place_of_oldest(newest, &now, self.registers) {
            Some(place) => memory.keep_beyond(place),
            None => memory.beyond.clear(),
        }
        (memory.newest, memory.calls) = (newest, now);
        &memory.beyond
    }
}

impl Memory {
    /// The position among the remembered calls of the oldest one of a new sample.
    fn place_of_oldest(&self, newest: u64, now: &[BranchEntry], registers: u64) -> Option<usize> {
        let base = registers
            .wrapping_sub(now.len() as u64)
            .wrapping_add(newest)
            .wrapping_add(1);
        let ring = if self.newest > base { 0 } else { registers };
        let place = usize::try_from(ring.wrapping_add(self.newest).wrapping_sub(base)).ok()?;
        (self.calls.get(place)? == now.last()?).then_some(place)
    }

    /// Those that are older than the one at this place are overwritten now.
    fn keep_beyond(&mut self, place: usize) {
        self.beyond.extend(
            self.calls
                .iter()
                .skip(place + 1)
                .rev()
                .map(|call| call.from),
        );
        let excess = self.beyond.len().saturating_sub(MOST);
        self.beyond.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{BranchSampleType, EventAttr, SampleType};
    use oxperf_wire::{Endian, SampleLayout};

    /// The callers beyond a sample whose newest call stands in the register `newest`; a call is known by its number.
    fn beyond(stitches: &mut Stitches, newest: u64, calls: &[u64]) -> Vec<u64> {
        let attr = EventAttr {
            sample_type: SampleType::BRANCH_STACK,
            branch_sample_type: BranchSampleType::CALL_STACK | BranchSampleType::HW_INDEX,
            ..EventAttr::default()
        };
        let entries = calls.iter().flat_map(|call| [*call, call + 0x100, 0]);
        let words = [calls.len() as u64, newest].into_iter().chain(entries);
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let sample = SampleLayout::new(&attr)
            .decode_sample(&bytes, Endian::Little)
            .unwrap();
        stitches
            .beyond(ThreadId(1), &sample.branch_stack.unwrap())
            .to_vec()
    }

    #[test]
    fn what_was_overwritten_is_remembered() {
        let mut stitches = Stitches::new(4);
        assert_eq!(beyond(&mut stitches, 3, &[4, 3, 2, 1]), []);
        assert_eq!(beyond(&mut stitches, 0, &[5, 4, 3, 2]), [1]);
        assert_eq!(beyond(&mut stitches, 2, &[7, 6, 5, 4]), [1, 2, 3]);
        assert_eq!(beyond(&mut stitches, 2, &[7, 6, 5, 4]), [1, 2, 3]);
        assert_eq!(
            beyond(&mut stitches, 0, &[21, 20, 19, 18]),
            [],
            "nothing is left of what was known"
        );
        assert_eq!(beyond(&mut stitches, u64::MAX, &[]), []);
    }

    #[test]
    fn memory_has_an_end() {
        let mut stitches = Stitches::new(4);
        let sample = |call: u64| {
            beyond(
                &mut stitches,
                call % 4,
                &[call, call - 1, call - 2, call - 3],
            )
            .len()
        };
        let last = (4..5000).map(sample).last();
        assert_eq!(last, Some(MOST));
    }
}
