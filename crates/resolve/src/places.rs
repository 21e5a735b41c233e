//! Places by number: far fewer than addresses, because every process has the same objects elsewhere.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Located, Machine, ThreadId};
use rustc_hash::FxHashMap;

use crate::recent::Recent;

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
        Place { dso: located.dso, address: located.address }
    }
}

/// The number of a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PlaceId(pub u32);

/// All places that a recording's addresses lie in, each once.
#[derive(Debug, Default)]
pub struct PlaceTable {
    ids: FxHashMap<Place, PlaceId>,
    recent: Recent<Place, PlaceId>,
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
        let place = Place::from(machine.locate(thread, mode, ip)?);
        let (ids, mix) = (&mut self.ids, place.address ^ u64::from(place.dso.0) << 40);
        let id = self.recent.get(place, mix, || {
            let next = PlaceId(ids.len() as u32);
            *ids.entry(place).or_insert(next)
        });
        Some((id, place))
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
