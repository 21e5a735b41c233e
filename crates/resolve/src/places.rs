//! Places by number: far fewer than addresses, because every process has the same objects elsewhere.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Located, Machine, ThreadId};
use rustc_hash::FxHashMap;

use crate::recent::{Mix, Recent};
use crate::regions::Regions;

/// Where an address lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// What is mapped there.
    pub dso: DsoId,
    /// The address in the dso's own space.
    pub address: u64,
}

impl From<Located> for Place {
    fn from(located: Located) -> Place {
        Place {
            dso: located.dso,
            address: located.address,
        }
    }
}

/// The number of a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlaceId(pub u32);

/// All places that a recording's addresses lie in, each once.
#[derive(Debug, Default)]
pub struct PlaceTable {
    /// By dso, and there by address: what is run at a time stays in the CPU's caches.
    ids: Vec<FxHashMap<u64, PlaceId>>,
    count: u32,
    recent: Recent<Place, PlaceId>,
    regions: Regions,
}

impl Mix for Place {
    #[inline]
    fn mix(&self) -> u64 {
        self.address ^ u64::from(self.dso.0) << 40
    }
}

impl PlaceTable {
    /// The place of an address of a thread, as the machine is now, and its number; `None` where nothing is mapped.
    #[inline]
    pub fn locate(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        mode: CpuMode,
        ip: u64,
    ) -> Option<(PlaceId, Place)> {
        let place = self.regions.locate_now(machine, thread, mode, ip)?;
        Some((self.number(place), place))
    }

    /// The number of a place.
    #[inline]
    fn number(&mut self, place: Place) -> PlaceId {
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
                PlaceId(*count - 1)
            })
        })
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
