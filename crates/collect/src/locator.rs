//! Locating the addresses of a batch.
//!
//! Where each address counts, every core has a table of its own, so that none waits for another. Which table an address
//! belongs to follows from the address: each is located and named once, in the order in which it came.

use oxperf_abi::CpuMode;
use oxperf_machine::Mappings;
use oxperf_resolve::{FrameTable, LocatedFrame};
use rayon::prelude::*;

use super::batch::Batch;
use super::function_locator::FunctionLocator;
use super::lookup::SymbolLookup;
use super::merged_locator::MergedLocator;
use super::new_addresses::NewAddresses;
use super::split::TableSplit;

/// The largest number of tables: every core goes through all addresses.
const MAX_TABLES: usize = 16;

/// Locates the addresses of batches.
#[derive(Debug)]
pub(super) enum Locator {
    /// Each address.
    Addresses(AddressLocator),
    /// Each function, and each address without one.
    Functions(Box<FunctionLocator>),
    /// Each function; without one, each object.
    Merged(Box<MergedLocator>),
}

/// The tables.
#[derive(Debug)]
pub(super) struct AddressLocator {
    tables: Vec<FrameTable>,
    /// The places in the batch at which each table met new addresses.
    arrivals: Vec<Vec<usize>>,
    split: TableSplit,
}

impl Locator {
    /// A table for each core.
    pub(super) fn many_tables() -> Locator {
        Locator::Addresses(AddressLocator::with(
            rayon::current_num_threads().clamp(1, MAX_TABLES).ilog2(),
        ))
    }

    /// One table for all, so that numbers follow one another.
    pub(super) fn one_table() -> Locator {
        Locator::Addresses(AddressLocator::with(0))
    }

    /// Locates functions, where nobody asks for more.
    pub(super) fn functions() -> Locator {
        Locator::Functions(Box::default())
    }

    /// Locates functions; addresses without a symbol are one for each object.
    pub(super) fn merged() -> Locator {
        Locator::Merged(Box::default())
    }

    /// The distribution of numbers over tables.
    pub(super) fn split(&self) -> TableSplit {
        match self {
            Locator::Addresses(addresses) => addresses.split,
            Locator::Functions(_) => FunctionLocator::SPLIT,
            Locator::Merged(_) => TableSplit::default(),
        }
    }

    /// Locates every address of a batch.
    pub(super) fn locate(&mut self, batch: &mut Batch, lookup: SymbolLookup<'_, '_>) {
        match self {
            Locator::Addresses(addresses) => addresses.locate(batch),
            Locator::Functions(functions) => functions.locate(batch, lookup),
            Locator::Merged(merged) => merged.locate(batch, lookup),
        }
    }

    /// The addresses that are new since the last call.
    pub(super) fn take_new(&mut self) -> NewAddresses {
        match self {
            Locator::Addresses(addresses) => addresses.take_new(),
            Locator::Functions(functions) => functions.take_new(),
            Locator::Merged(merged) => merged.take_new(),
        }
    }
}

impl AddressLocator {
    fn with(bits: u32) -> AddressLocator {
        let split = TableSplit { bits };
        let tables = (0..split.count()).map(|_| FrameTable::default()).collect();
        AddressLocator {
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
                let is_own = |ip| split.table_of(ip) == nth;
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

    fn take_new(&mut self) -> NewAddresses {
        let count = self.tables.len();
        if let [only] = &mut self.tables[..] {
            self.arrivals.iter_mut().for_each(Vec::clear);
            return NewAddresses {
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
        NewAddresses {
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

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use oxperf_abi::{Pid, Tid};
    use oxperf_machine::{CommId, Machine, ThreadId};
    use oxperf_resolve::MappingsId;

    use super::super::batch::{BatchSample, Span};
    use super::super::named_frames::{NamedFrames, NamedTables};
    use super::*;
    use oxperf_profile::{DetailId, FrameId};

    #[test]
    fn new_addresses_come_in_the_order_of_arrival() {
        let machine = {
            let mut machine = Machine::default();
            machine.thread(Pid(1), Tid(1));
            machine
        };
        let thread = machine.find_thread(Tid(1)).unwrap();
        let addresses =
            |base: u64| (0..300u64).map(move |nth| (CpuMode::User, base + 24 * (nth % 200)));
        for bits in [0, 2] {
            let mut locator = AddressLocator::with(bits);
            let mut batch = Batch::default();
            batch.addresses.extend(addresses(0x1000));
            let mappings = batch.mappings.keep(&machine, thread);
            let ends = [0, 150, 300];
            batch.samples.extend(
                ends.windows(2)
                    .map(|part| sample(thread, mappings, part[0]..part[1])),
            );
            locator.locate(&mut batch);
            batch.join_parts(locator.split);
            let fresh = locator.take_new();
            let came: Vec<u64> = fresh.frames.iter().map(|frame| frame.ip).collect();
            assert_eq!(
                came,
                addresses(0x1000)
                    .take(200)
                    .map(|(_, ip)| ip)
                    .collect::<Vec<u64>>()
            );
            // Every address is called by its place among those that came, whatever its table.
            let mut named = NamedFrames::default();
            (0..200).for_each(|nth| match nth % 3 {
                0 => named.push_list(FrameId(nth), [FrameId(nth), FrameId(900)].into()),
                _ => named.push(FrameId(nth)),
            });
            let mut all = NamedTables::new(locator.split);
            all.append(fresh.by_table(named));
            let frames: Vec<u32> = batch.located.iter().map(|&id| all.frame(id).0).collect();
            assert_eq!(frames, (0..300).map(|nth| nth % 200).collect::<Vec<u32>>());
            let mut chain = Vec::new();
            all.lay_out(&batch.located[..2], &mut chain);
            assert_eq!(chain, [1, 900, 0].map(FrameId));
        }
    }

    fn sample(thread: ThreadId, mappings: MappingsId, part: Range<usize>) -> BatchSample {
        BatchSample {
            event: 0,
            thread,
            comm: CommId(0),
            detail: DetailId::EMPTY,
            mappings,
            branches: Span::default(),
            is_branch: false,
            last: true,
            history: None,
            addresses: Span::new(part.start, part.end),
            period: 1,
            latency: 0,
            moment: None,
        }
    }
}
