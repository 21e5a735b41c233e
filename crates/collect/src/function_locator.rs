//! Locating the addresses of a batch by the functions that hold them: reports of functions alone need no list of all
//! addresses, of which there may be nearly as many as samples.

use oxperf_abi::CpuMode;
use oxperf_resolve::{DsoAddress, FrameId as LocatedId, FrameTable, LocatedFrame};
use oxperf_symbols::SymbolId;
use rayon::prelude::*;

use super::batch::{Batch, BatchSample};
use super::function_numbers::{FunctionNumbers, ReadDsos};
use super::lookup::SymbolLookup;
use super::new_addresses::NewAddresses;
use super::split::TableSplit;

/// So many samples are located as one piece of work.
const PIECE: usize = 2048;

/// The functions that were met, and the addresses that no symbol holds.
#[derive(Debug, Default)]
pub(super) struct FunctionLocator {
    known: FunctionNumbers,
    count: u32,
    /// The addresses at which new functions were met.
    met: Vec<LocatedFrame>,
    others: FrameTable,
    /// The table of each function and address that was not known before.
    arrivals: Vec<usize>,
    read: ReadDsos,
}

/// The state of an address while functions are looked up.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// In a dso whose symbols were not read yet.
    Unread(DsoAddress),
    /// A function that has its number.
    Known(LocatedId),
    /// Another function.
    Function(DsoAddress, SymbolId),
    /// No symbol holds it.
    Other,
}

impl FunctionLocator {
    /// Functions have numbers of one table, all other addresses those of another.
    pub(super) const SPLIT: TableSplit = TableSplit { bits: 1 };
    const FUNCTIONS: usize = 0;
    const OTHERS: usize = 1;

    /// Locates every address of a batch, with the symbols of the dsos that they lie in.
    pub(super) fn locate(&mut self, batch: &mut Batch, lookup: SymbolLookup<'_, '_>) {
        let find_all = |samples| self.find_all(batch, samples, lookup);
        let mut pieces: Vec<Vec<Found>> = batch.samples.par_chunks(PIECE).map(find_all).collect();
        let places = pieces.iter().flatten().filter_map(|spot| match spot {
            Found::Unread(place) => Some(place.dso),
            _ => None,
        });
        let unread = self.read.add(places);
        if !unread.is_empty() {
            lookup.names.load(lookup.machine.objects(), &unread);
            pieces
                .par_iter_mut()
                .flat_map_iter(|piece| piece.iter_mut())
                .for_each(|spot| {
                    if let Found::Unread(place) = *spot {
                        *spot = self.find_in(place, lookup);
                    }
                });
        }
        let mut located = std::mem::take(&mut batch.located);
        located.reserve(batch.addresses.len());
        for (spot, (sample, mode, ip)) in pieces
            .iter()
            .flatten()
            .zip(batch.addresses_of(&batch.samples))
        {
            located.push(match *spot {
                Found::Known(number) => number,
                Found::Function(place, symbol) => self.function(
                    LocatedFrame {
                        ip,
                        mode,
                        place: Some(place),
                    },
                    place,
                    symbol,
                ),
                Found::Unread(_) | Found::Other => self.other(batch, sample, mode, ip),
            });
        }
        batch.located = located;
    }

    /// The addresses of some samples, as far as they are known.
    fn find_all(
        &self,
        batch: &Batch,
        samples: &[BatchSample],
        lookup: SymbolLookup<'_, '_>,
    ) -> Vec<Found> {
        let mut found = Vec::with_capacity(samples.len());
        for sample in samples {
            let mappings = batch.mappings.get(sample.mappings);
            let addresses = batch
                .addresses
                .get(sample.addresses.range())
                .unwrap_or_default();
            found.extend(addresses.iter().map(|&(mode, ip)| {
                match mappings.locate(mode, ip).map(DsoAddress::from) {
                    None => Found::Other,
                    Some(place) if self.read.has(place.dso) => self.find_in(place, lookup),
                    Some(place) => Found::Unread(place),
                }
            }));
        }
        found
    }

    /// Looks up a place in a dso whose symbols were read.
    #[inline]
    fn find_in(&self, place: DsoAddress, lookup: SymbolLookup<'_, '_>) -> Found {
        let Some(symbol) = lookup.names.symbol(lookup.machine.objects(), &place) else {
            return Found::Other;
        };
        match self.known.get(place.dso, symbol) {
            Some(number) => Found::Known(Self::located(number)),
            None => Found::Function(place, symbol),
        }
    }

    /// The addresses that are new since the last call.
    pub(super) fn take_new(&mut self) -> NewAddresses {
        let tables = std::mem::take(&mut self.arrivals);
        let mut fresh =
            [std::mem::take(&mut self.met), self.others.take_fresh()].map(Vec::into_iter);
        let frames = tables
            .iter()
            .filter_map(|&table| fresh[table].next())
            .collect();
        NewAddresses {
            frames,
            tables,
            count: Self::SPLIT.count(),
        }
    }

    /// The number of the function of a symbol that was met.
    #[inline]
    fn function(&mut self, met: LocatedFrame, place: DsoAddress, symbol: SymbolId) -> LocatedId {
        let number = self.known.get_or_add(place.dso, symbol, || {
            self.met.push(met);
            self.arrivals.push(Self::FUNCTIONS);
            self.count += 1;
            self.count - 1
        });
        Self::located(number)
    }

    fn located(number: u32) -> LocatedId {
        Self::SPLIT.join(Self::FUNCTIONS, LocatedId(number))
    }

    /// The number of an address that no symbol holds.
    fn other(&mut self, batch: &Batch, sample: &BatchSample, mode: CpuMode, ip: u64) -> LocatedId {
        let known = self.others.len();
        let id = self
            .others
            .intern(batch.mappings.get(sample.mappings), mode, ip);
        if self.others.len() > known {
            self.arrivals.push(Self::OTHERS);
        }
        Self::SPLIT.join(Self::OTHERS, id)
    }
}
