//! Locating the addresses of a batch by the functions that hold them: who is shown functions alone needs no list of all
//! addresses, of which there may be nearly as many as samples.

use std::num::NonZeroU32;

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Objects};
use oxperf_resolve::{Frame, FrameId as LocatedId, FrameTable, Names, Place};
use oxperf_symbols::SymbolId;
use rayon::prelude::*;

use super::locate::{Fresh, Split};
use super::merge::{Batch, Sample};

/// So many samples are located as one piece of work.
const PIECE: usize = 2048;

/// The functions that were met, and the addresses that no symbol holds.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// The numbers of functions, from 1; by dso, and there by symbol.
    known: Vec<Vec<Option<NonZeroU32>>>,
    count: u32,
    /// Where functions were met that were not known before.
    met: Vec<Frame>,
    others: FrameTable,
    /// The table of each function and address that was not known before.
    arrivals: Vec<usize>,
    /// Of which dsos the symbols were read.
    read: Vec<bool>,
}

/// What is found of an address.
type Spot = Option<(Place, Option<SymbolId>)>;

impl Functions {
    /// Functions have numbers of one table, all other addresses those of another.
    pub(super) const SPLIT: Split = Split { bits: 1 };
    const FUNCTIONS: usize = 0;
    const OTHERS: usize = 1;

    /// Locates every address of a batch, with the symbols of the dsos that they lie in.
    pub(super) fn locate(&mut self, batch: &mut Batch, (names, objects): (&Names<'_>, &Objects)) {
        let pieces = batch.samples.par_chunks(PIECE).map(|samples| spots(batch, samples));
        let mut pieces: Vec<Vec<Spot>> = pieces.collect();
        names.load(objects, &self.unread(pieces.iter().flatten().flatten().map(|(place, _)| place.dso)));
        pieces.par_iter_mut().flat_map_iter(|piece| piece.iter_mut().flatten()).for_each(
            |(place, symbol)| {
                *symbol = names.symbol(objects, place);
            },
        );
        let mut located = std::mem::take(&mut batch.located);
        let spots = pieces.into_iter().flatten();
        located.extend(spots.zip(addresses(batch, &batch.samples)).map(
            |(spot, (sample, mode, ip))| match spot {
                Some((place, Some(symbol))) => self.function(Frame { ip, mode, place: Some(place) }, symbol),
                _ => self.other(batch, sample, mode, ip),
            },
        ));
        batch.located = located;
    }

    /// What was not known before.
    pub(super) fn take_fresh(&mut self) -> Fresh {
        let tables = std::mem::take(&mut self.arrivals);
        let mut fresh = [std::mem::take(&mut self.met), self.others.take_fresh()].map(Vec::into_iter);
        let frames = tables.iter().filter_map(|&table| fresh[table].next()).collect();
        Fresh { frames, tables, count: Self::SPLIT.count() }
    }

    /// Those dsos whose symbols were not read before.
    fn unread(&mut self, dsos: impl Iterator<Item = DsoId>) -> Vec<DsoId> {
        let mut unread = Vec::new();
        for dso in dsos {
            let index = dso.0 as usize;
            if self.read.len() <= index {
                self.read.resize(index + 1, false);
            }
            if !std::mem::replace(&mut self.read[index], true) {
                unread.push(dso);
            }
        }
        unread
    }

    /// The number of the function of a symbol that was met.
    #[inline]
    fn function(&mut self, met: Frame, symbol: SymbolId) -> LocatedId {
        let (dso, symbol) = (met.place.map_or(0, |place| place.dso.0 as usize), symbol.0 as usize);
        if self.known.len() <= dso {
            self.known.resize_with(dso + 1, Vec::new);
        }
        let symbols = &mut self.known[dso];
        if symbols.len() <= symbol {
            symbols.resize(symbol + 1, None);
        }
        let number = *symbols[symbol].get_or_insert_with(|| {
            self.met.push(met);
            self.arrivals.push(Self::FUNCTIONS);
            self.count += 1;
            NonZeroU32::MIN.saturating_add(self.count - 1)
        });
        Self::SPLIT.join(Self::FUNCTIONS, LocatedId(number.get() - 1))
    }

    /// The number of an address that no symbol holds.
    fn other(&mut self, batch: &Batch, sample: &Sample, mode: CpuMode, ip: u64) -> LocatedId {
        let known = self.others.len();
        let id = self.others.intern(batch.mappings.get(sample.mappings), mode, ip);
        if self.others.len() > known {
            self.arrivals.push(Self::OTHERS);
        }
        Self::SPLIT.join(Self::OTHERS, id)
    }
}

/// Where the addresses of some samples lie.
fn spots(batch: &Batch, samples: &[Sample]) -> Vec<Spot> {
    let place = |(sample, mode, ip): (&Sample, _, _)| {
        batch.mappings.get(sample.mappings).locate(mode, ip).map(|located| (Place::from(located), None))
    };
    addresses(batch, samples).map(place).collect()
}

/// The addresses of some samples, each with its sample.
fn addresses<'b>(
    batch: &'b Batch,
    samples: &'b [Sample],
) -> impl Iterator<Item = (&'b Sample, CpuMode, u64)> {
    samples.iter().flat_map(|sample| {
        let addresses = batch.addresses.get(sample.addresses.range()).unwrap_or_default();
        addresses.iter().map(move |&(mode, ip)| (sample, mode, ip))
    })
}
