//! Places by number: far fewer than addresses, because every process has the same objects elsewhere.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Machine, MappedAddress, ThreadId};
use rustc_hash::FxHashMap;

use crate::recent::{Mix, Recent};
use crate::regions::Regions;

/// A dso with an address in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DsoAddress {
    /// The dso that is mapped.
    pub dso: DsoId,
    /// The address in the dso's own space.
    pub address: u64,
}

impl From<MappedAddress> for DsoAddress {
    fn from(located: MappedAddress) -> DsoAddress {
        DsoAddress {
            dso: located.dso,
            address: located.address,
        }
    }
}

/// The number of a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DsoAddressId(pub u32);

/// All places that a recording's addresses lie in, each once.
#[derive(Debug, Default)]
pub struct DsoAddressTable {
    /// By dso, and there by address: what is run at a time stays in the CPU's caches.
    ids: Vec<FxHashMap<u64, DsoAddressId>>,
    count: u32,
    recent: Recent<DsoAddress, DsoAddressId>,
    regions: Regions,
}

impl Mix for DsoAddress {
    #[inline]
    fn mix(&self) -> u64 {
        self.address ^ u64::from(self.dso.0) << 40
    }
}

impl DsoAddressTable {
    /// The place of an address of a thread, as the machine is now, and its number; `None` where nothing is mapped.
    #[inline]
    pub fn locate(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        mode: CpuMode,
        ip: u64,
    ) -> Option<(DsoAddressId, DsoAddress)> {
        let place = self.regions.locate_now(machine, thread, mode, ip)?;
        Some((self.number(place), place))
    }

    /// The number of a place.
    #[inline]
    fn number(&mut self, place: DsoAddress) -> DsoAddressId {
        let Self {
            ids, count, recent, ..
        } = self;
        recent.get(place, || {
            let index = place.dso.0 as usize;
            if ids.len() <= index {
                ids.resize_with(index + 1, FxHashMap::default);
            }
            *ids[index].entry(place.address).or_insert_with(|| {
                *count += 1;
                DsoAddressId(*count - 1)
            })
        })
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
