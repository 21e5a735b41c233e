//! Locating the addresses of a batch on all cores.
//!
//! Every core has a table of its own, so that none waits for another. Which table an address belongs to follows from the
//! address: each is located and named once, in the order in which it came.

use oxperf_abi::CpuMode;
use oxperf_machine::{Mappings, Objects};
use oxperf_resolve::{FrameId as LocatedId, FrameTable, LocatedFrame, Names};
use rayon::prelude::*;

use super::functions::Functions;
use super::merge::Batch;
use super::named::Named;

/// Most tables: every core goes through all addresses.
const MOST: usize = 16;

/// Where the addresses of batches lie, as far as anybody asks.
#[derive(Debug)]
pub(super) enum Locating {
    /// Each address.
    Addresses(Addresses),
    /// Each function.
    Functions(Box<Functions>),
}

/// The tables.
#[derive(Debug)]
pub(super) struct Addresses {
    tables: Vec<FrameTable>,
    /// Where in the batch each table met what it did not know.
    arrivals: Vec<Vec<usize>>,
    split: Split,
}

/// Addresses that were not known before, in the order in which they came, and the table of each.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    pub(super) frames: Vec<LocatedFrame>,
    pub(super) tables: Vec<usize>,
    /// Number of tables.
    pub(super) count: usize,
}

impl Fresh {
    /// What each table's are called, given what all are called.
    pub(super) fn by_table(&self, named: Named) -> Vec<Named> {
        if self.count == 1 {
            return vec![named];
        }
        let mut parts: Vec<Named> = (0..self.count).map(|_| Named::default()).collect();
        for (&table, (own, list)) in self.tables.iter().zip(named.into_entries()) {
            match list {
                Some(list) => parts[table].push_list(own, list),
                None => parts[table].push(own),
            }
        }
        parts
    }
}

/// How addresses, and their numbers, are dealt out to tables: to as many as two to some power.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Split {
    pub(super) bits: u32,
}

impl Split {
    pub(super) fn count(self) -> usize {
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
    pub(super) fn join(self, table: usize, id: LocatedId) -> LocatedId {
        LocatedId(id.0 << self.bits | table as u32)
    }

    /// The table of a number and that number there.
    #[inline]
    pub(super) fn part(self, id: LocatedId) -> (usize, LocatedId) {
        (
            id.0 as usize & (self.count() - 1),
            LocatedId(id.0 >> self.bits),
        )
    }
}

impl Locating {
    /// A table for each core.
    pub(super) fn shared() -> Locating {
        Locating::Addresses(Addresses::with(
            rayon::current_num_threads().clamp(1, MOST).ilog2(),
        ))
    }

    /// One table for all, so that numbers follow one another.
    pub(super) fn alone() -> Locating {
        Locating::Addresses(Addresses::with(0))
    }

    /// For who asks for functions alone.
    pub(super) fn functions() -> Locating {
        Locating::Functions(Box::default())
    }

    /// How numbers are dealt out.
    pub(super) fn split(&self) -> Split {
        match self {
            Locating::Addresses(addresses) => addresses.split,
            Locating::Functions(_) => Functions::SPLIT,
        }
    }

    /// Locates every address of a batch.
    pub(super) fn locate(&mut self, batch: &mut Batch, names: (&Names<'_>, &Objects)) {
        match self {
            Locating::Addresses(addresses) => addresses.locate(batch),
            Locating::Functions(functions) => functions.locate(batch, names),
        }
    }

    /// What was not known before.
    pub(super) fn take_fresh(&mut self) -> Fresh {
        match self {
            Locating::Addresses(addresses) => addresses.take_fresh(),
            Locating::Functions(functions) => functions.take_fresh(),
        }
    }
}

impl Addresses {
    fn with(bits: u32) -> Addresses {
        let split = Split { bits };
        let tables = (0..split.count()).map(|_| FrameTable::default()).collect();
        Addresses {
            tables,
            arrivals: vec![Vec::new(); split.count()],
            split,
        }
    }

    fn locate(&mut self, batch: &mut Batch) {
        let split = self.split;
        let mut parts = std::mem::take(&mut batch.parts);
        parts.resize_with(split.count(), Vec::new);
        let tables = self.tables.par_iter_mut().zip(&mut self.arrivals);
        tables.zip(&mut parts).enumerate().with_max_len(1).for_each(
            |(nth, ((table, arrivals), part))| {
                let is_own = |ip| split.of_address(ip) == nth;
                locate_part(batch, is_own, |mappings, mode, ip, place| {
                    let known = table.len();
                    part.push(split.join(nth, table.intern(mappings, mode, ip)));
                    if table.len() > known {
                        arrivals.push(place);
                    }
                });
            },
        );
        if let [whole] = &mut parts[..] {
            std::mem::swap(&mut batch.located, whole);
        }
        batch.parts = parts;
    }

    fn take_fresh(&mut self) -> Fresh {
        let count = self.tables.len();
        if let [only] = &mut self.tables[..] {
            self.arrivals.iter_mut().for_each(Vec::clear);
            return Fresh {
                frames: only.take_fresh(),
                tables: Vec::new(),
                count,
            };
        }
        let mut all: Vec<(usize, usize, LocatedFrame)> = Vec::new();
        for (nth, (table, arrivals)) in self.tables.iter_mut().zip(&mut self.arrivals).enumerate() {
            let fresh = arrivals.drain(..).zip(table.take_fresh());
            all.extend(fresh.map(|(place, frame)| (place, nth, frame)));
        }
        // Those of a table are in order: a sort that sees that has little to do.
        all.sort_by_key(|(place, ..)| *place);
        let (tables, frames) = all
            .into_iter()
            .map(|(_, table, frame)| (table, frame))
            .unzip();
        Fresh {
            frames,
            tables,
            count,
        }
    }
}

/// Goes through the addresses that are a table's own.
fn locate_part(
    batch: &Batch,
    is_own: impl Fn(u64) -> bool,
    mut locate: impl FnMut(&Mappings, CpuMode, u64, usize),
) {
    let mut own = [0; PIECE];
    for sample in &batch.samples {
        let mappings = batch.mappings.get(sample.mappings);
        let mut place = sample.addresses.range().start;
        for piece in batch.addresses[sample.addresses.range()].chunks(PIECE) {
            // Which are its own cannot be foretold: they are picked out without a branch.
            let mut count = 0;
            for (nth, (_, ip)) in piece.iter().enumerate() {
                own[count] = nth;
                count += usize::from(is_own(*ip));
            }
            for &nth in &own[..count] {
                let (mode, ip) = piece[nth];
                locate(mappings, mode, ip, place + nth);
            }
            place += piece.len();
        }
    }
}

/// So many addresses are looked at before those of a table's own are located.
const PIECE: usize = 128;

/// Puts what several tables located together, in the order of the addresses.
pub(super) fn weave(batch: &mut Batch, split: Split) {
    if batch.parts.len() > 1 {
        let mut parts: Vec<_> = batch
            .parts
            .iter()
            .map(|part| part.iter().copied())
            .collect();
        let next = |&(_, ip): &(_, u64)| parts[split.of_address(ip)].next();
        batch
            .located
            .extend(batch.addresses.iter().filter_map(next));
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use oxperf_abi::{Pid, Tid};
    use oxperf_machine::{CommId, Machine, ThreadId};
    use oxperf_resolve::MappingsId;

    use super::super::merge::{Part, Sample};
    use super::super::named::AllNamed;
    use super::*;
    use oxperf_profile::{DetailId, FrameId};

    #[test]
    fn numbers_tell_their_table() {
        for bits in [0, 1, 4] {
            let split = Split { bits };
            for (table, id) in [(0, 0), (split.count() - 1, 9), (split.count() / 2, 1 << 27)] {
                assert_eq!(
                    split.part(split.join(table, LocatedId(id))),
                    (table, LocatedId(id))
                );
            }
        }
    }

    #[test]
    fn what_is_new_comes_in_the_order_of_arrival() {
        let machine = {
            let mut machine = Machine::default();
            machine.thread(Pid(1), Tid(1));
            machine
        };
        let thread = machine.find_thread(Tid(1)).unwrap();
        let addresses =
            |base: u64| (0..300u64).map(move |nth| (CpuMode::User, base + 24 * (nth % 200)));
        for bits in [0, 2] {
            let mut locating = Addresses::with(bits);
            let mut batch = Batch::default();
            batch.addresses.extend(addresses(0x1000));
            let mappings = batch.mappings.keep(&machine, thread);
            let ends = [0, 150, 300];
            batch.samples.extend(
                ends.windows(2)
                    .map(|part| sample(thread, mappings, part[0]..part[1])),
            );
            locating.locate(&mut batch);
            weave(&mut batch, locating.split);
            let fresh = locating.take_fresh();
            let came: Vec<u64> = fresh.frames.iter().map(|frame| frame.ip).collect();
            assert_eq!(
                came,
                addresses(0x1000)
                    .take(200)
                    .map(|(_, ip)| ip)
                    .collect::<Vec<u64>>()
            );
            // Every address is called by its place among those that came, whatever its table.
            let mut named = Named::default();
            (0..200).for_each(|nth| match nth % 3 {
                0 => named.push_list(FrameId(nth), [FrameId(nth), FrameId(900)].into()),
                _ => named.push(FrameId(nth)),
            });
            let mut all = AllNamed::new(locating.split);
            all.append(fresh.by_table(named));
            let frames: Vec<u32> = batch.located.iter().map(|&id| all.frame(id).0).collect();
            assert_eq!(frames, (0..300).map(|nth| nth % 200).collect::<Vec<u32>>());
            let mut chain = Vec::new();
            all.lay_out(&batch.located[..2], &mut chain);
            assert_eq!(chain, [1, 900, 0].map(FrameId));
        }
    }

    fn sample(thread: ThreadId, mappings: MappingsId, part: Range<usize>) -> Sample {
        Sample {
            event: 0,
            thread,
            comm: CommId(0),
            detail: DetailId(0),
            mappings,
            links: Part::default(),
            is_branch: false,
            last: true,
            history: None,
            addresses: Part::new(part.start, part.end),
            period: 1,
            latency: 0,
            taken: None,
        }
    }

    #[test]
    fn every_table_gets_its_share() {
        let split = Split { bits: 2 };
        let mut counts = [0; 4];
        (0..4000u64).for_each(|nth| counts[split.of_address(0x7f12_3456_0000 + 24 * nth)] += 1);
        assert!(
            counts.iter().all(|count| (500..1500).contains(count)),
            "{counts:?}"
        );
    }
}
