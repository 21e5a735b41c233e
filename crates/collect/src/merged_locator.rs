//! Locating the addresses of a batch by what stacks are told apart by: functions, and objects where no symbol holds an
//! address.
//!
//! Most addresses of call chains that were read from what were no frame pointers are stray ones, each of which comes once:
//! they lie in few objects, or in none, and no list of them is kept.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Mappings};
use oxperf_resolve::{DsoAddress, FrameId as LocatedId, LocatedFrame, RecentAddresses, Regions};
use rustc_hash::FxHashMap;

use super::batch::Batch;
use super::function_numbers::{FunctionNumbers, ReadDsos};
use super::lookup::SymbolLookup;
use super::new_addresses::NewAddresses;

/// The functions that were met, and the objects that addresses without a symbol lie in.
#[derive(Debug, Default)]
pub(super) struct MergedLocator {
    recent: RecentAddresses<LocatedId>,
    regions: Regions,
    met: Met,
    read: ReadDsos,
}

/// What has a number.
#[derive(Debug, Default)]
struct Met {
    functions: FunctionNumbers,
    /// The addresses without a symbol of each object, or of none.
    others: FxHashMap<(Option<DsoId>, CpuMode), LocatedId>,
    /// The first addresses of those that were not taken.
    fresh: Vec<LocatedFrame>,
    count: u32,
}

impl MergedLocator {
    /// Locates every address of a batch, with the symbols of the dsos that they lie in.
    pub(super) fn locate(&mut self, batch: &mut Batch, lookup: SymbolLookup<'_, '_>) {
        let mut located = std::mem::take(&mut batch.located);
        located.reserve(batch.addresses.len());
        for sample in &batch.samples {
            let mappings = batch.mappings.get(sample.mappings);
            let addresses = batch.addresses.get(sample.addresses.range());
            for &(mode, ip) in addresses.unwrap_or_default() {
                located.push(self.number(batch, mappings, (mode, ip), lookup));
            }
        }
        batch.located = located;
    }

    /// What is new since the last call.
    pub(super) fn take_new(&mut self) -> NewAddresses {
        NewAddresses {
            frames: std::mem::take(&mut self.met.fresh),
            tables: Vec::new(),
            count: 1,
        }
    }

    #[inline]
    fn number(
        &mut self,
        batch: &Batch,
        mappings: &Mappings,
        (mode, ip): (CpuMode, u64),
        lookup: SymbolLookup<'_, '_>,
    ) -> LocatedId {
        let MergedLocator {
            recent,
            regions,
            met,
            read,
        } = self;
        recent.get(mappings.version(mode), mode, ip, || {
            let place = regions.locate(mappings, mode, ip);
            if place.is_some_and(|place| !read.has(place.dso)) {
                read_symbols(batch, regions, read, lookup);
            }
            met.number(LocatedFrame { ip, mode, place }, lookup)
        })
    }
}

impl Met {
    /// The number of what is at an address.
    fn number(&mut self, at: LocatedFrame, lookup: SymbolLookup<'_, '_>) -> LocatedId {
        let Met {
            functions,
            others,
            fresh,
            count,
        } = self;
        let mut add = || {
            fresh.push(at);
            *count += 1;
            *count - 1
        };
        let objects = lookup.machine.objects();
        let symbol = |place: &DsoAddress| lookup.names.symbol(objects, place);
        match at.place.and_then(|place| Some((place, symbol(&place)?))) {
            Some((place, symbol)) => LocatedId(functions.get_or_add(place.dso, symbol, add)),
            None => *others
                .entry((at.place.map(|place| place.dso), at.mode))
                .or_insert_with(|| LocatedId(add())),
        }
    }
}

/// Reads the symbols of all dsos of a batch that were not read before, on all cores.
fn read_symbols(
    batch: &Batch,
    regions: &mut Regions,
    read: &mut ReadDsos,
    lookup: SymbolLookup<'_, '_>,
) {
    let addresses = batch.addresses_of(&batch.samples);
    let dsos = addresses.filter_map(|(sample, mode, ip)| {
        let mappings = batch.mappings.get(sample.mappings);
        Some(regions.locate(mappings, mode, ip)?.dso)
    });
    let unread = read.add(dsos);
    lookup.names.load(lookup.machine.objects(), &unread);
}
