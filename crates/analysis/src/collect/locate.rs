//! Locating the addresses of a batch on all cores.
//!
//! Every core has a table of its own, so that none waits for another. Which table an address belongs to follows from the
//! address: each is located and named once, and what is new stands in the order in which it came.

use oxperf_abi::CpuMode;
use oxperf_machine::Mappings;
use oxperf_resolve::{Frame, FrameId as LocatedId, FrameTable};
use rayon::prelude::*;

use super::merge::Batch;

/// Most tables: every core goes through all addresses.
const MOST: usize = 16;

/// The tables.
#[derive(Debug)]
pub(super) struct Locating {
    tables: Vec<FrameTable>,
    split: Split,
}

/// How addresses, and their numbers, are dealt out to tables: to as many as two to some power.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    bits: u32,
}

impl Split {
    fn count(self) -> usize {
        1 << self.bits
    }

    #[inline]
    fn of_address(self, ip: u64) -> usize {
        // Other bits than those that the tables hash by.
        let spread = (ip ^ ip >> 29).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (spread >> 40) as usize & (self.count() - 1)
    }

    /// The number of an address among all, by that in its table.
    #[inline]
    fn join(self, table: usize, id: LocatedId) -> LocatedId {
        LocatedId(id.0 << self.bits | table as u32)
    }

    /// The table of a number and that number there.
    #[inline]
    pub(super) fn part(self, id: LocatedId) -> (usize, LocatedId) {
        (id.0 as usize & (self.count() - 1), LocatedId(id.0 >> self.bits))
    }
}

impl Locating {
    /// A table for each core.
    pub(super) fn shared() -> Locating {
        Locating::with(rayon::current_num_threads().clamp(1, MOST).ilog2())
    }

    /// One table for all, so that numbers follow one another.
    pub(super) fn alone() -> Locating {
        Locating::with(0)
    }

    fn with(bits: u32) -> Locating {
        let split = Split { bits };
        Locating { tables: (0..split.count()).map(|_| FrameTable::default()).collect(), split }
    }

    /// How numbers are dealt out.
    pub(super) fn split(&self) -> Split {
        self.split
    }

    /// Locates every address of a batch.
    pub(super) fn locate(&mut self, batch: &mut Batch) {
        let split = self.split;
        let mut parts = std::mem::take(&mut batch.parts);
        parts.resize_with(split.count(), Vec::new);
        let work = self.tables.par_iter_mut().zip(&mut parts).enumerate().with_max_len(1);
        work.for_each(|(nth, (table, part))| {
            let is_own = |ip| split.of_address(ip) == nth;
            locate_part(batch, is_own, |mappings, mode, ip| {
                part.push(split.join(nth, table.intern(mappings, mode, ip)));
            });
        });
        if let [whole] = &mut parts[..] {
            std::mem::swap(&mut batch.located, whole);
        }
        batch.parts = parts;
    }

    /// What each table did not know before.
    pub(super) fn take_fresh(&mut self) -> Vec<Vec<Frame>> {
        self.tables.iter_mut().map(FrameTable::take_fresh).collect()
    }
}

/// Goes through the addresses that are a table's own.
fn locate_part(batch: &Batch, is_own: impl Fn(u64) -> bool, mut locate: impl FnMut(&Mappings, CpuMode, u64)) {
    let mut own = [0; PIECE];
    for sample in &batch.samples {
        let mappings = batch.mappings.get(sample.mappings);
        for piece in batch.addresses[sample.start..sample.end].chunks(PIECE) {
            // Which are its own cannot be foretold: they are picked out without a branch.
            let mut count = 0;
            for (nth, (_, ip)) in piece.iter().enumerate() {
                own[count] = nth;
                count += usize::from(is_own(*ip));
            }
            own[..count].iter().map(|&nth| piece[nth]).for_each(|(mode, ip)| locate(mappings, mode, ip));
        }
    }
}

/// So many addresses are looked at before those of a table's own are located.
const PIECE: usize = 128;

/// Puts what several tables located together, in the order of the addresses.
pub(super) fn weave(batch: &mut Batch, split: Split) {
    if split.count() > 1 {
        let mut parts: Vec<_> = batch.parts.iter().map(|part| part.iter().copied()).collect();
        let next = |&(_, ip): &(_, u64)| parts[split.of_address(ip)].next();
        batch.located.extend(batch.addresses.iter().filter_map(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_tell_their_table() {
        for bits in [0, 1, 4] {
            let split = Split { bits };
            for (table, id) in [(0, 0), (split.count() - 1, 9), (split.count() / 2, 1 << 27)] {
                assert_eq!(split.part(split.join(table, LocatedId(id))), (table, LocatedId(id)));
            }
        }
    }

    #[test]
    fn every_table_gets_its_share() {
        let split = Split { bits: 2 };
        let mut counts = [0; 4];
        (0..4000u64).for_each(|nth| counts[split.of_address(0x7f12_3456_0000 + 24 * nth)] += 1);
        assert!(counts.iter().all(|count| (500..1500).contains(count)), "{counts:?}");
    }
}
