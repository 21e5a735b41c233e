//! Places by number: far fewer than addresses, because every process has the same objects elsewhere.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Located, Machine, Mappings, Region, Shown, ThreadId};
use rustc_hash::FxHashMap;

use crate::recent::{Mix, Recent};

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
    /// By dso, and there by address: what is run at a time stays in the CPU's caches.
    ids: Vec<FxHashMap<u64, PlaceId>>,
    count: u32,
    recent: Recent<Place, PlaceId>,
    /// What chunks show; `None` where they show more than one thing.
    chunks: Recent<Chunk, Option<Option<Shown>>>,
}

/// A piece of address space, as long as no mapping changes. Stray addresses, of which call chains without frame pointers
/// are full, lie close to each other, though each comes once: in heaps and stacks, where nothing is mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Chunk {
    number: u64,
    /// What [`Machine::version`] says: no two tables of mappings that differ have the same.
    version: u32,
}

impl Chunk {
    /// 64 KiB.
    const BITS: u32 = 16;

    #[inline]
    fn of(ip: u64, version: u32) -> Chunk {
        Chunk { number: ip >> Chunk::BITS, version }
    }

    /// What all of it shows, if that is one thing.
    #[inline]
    fn shown(self, around: Region) -> Option<Option<Shown>> {
        let first = self.number << Chunk::BITS;
        let last = first | ((1 << Chunk::BITS) - 1);
        around.holds(first, last).then(|| around.shown())
    }
}

impl Mix for Chunk {
    #[inline]
    fn mix(&self) -> u64 {
        self.number ^ u64::from(self.version) << 32
    }
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
        let chunk = Chunk::of(ip, machine.version(thread, mode));
        let shown = self.chunks.get(chunk, || chunk.shown(machine.region(thread, mode, ip)));
        let shown = shown.unwrap_or_else(|| machine.region(thread, mode, ip).shown())?;
        Some(self.number(shown.locate(ip)))
    }

    /// The same as it was at a moment.
    #[inline]
    pub fn locate_in(&mut self, mappings: &Mappings, mode: CpuMode, ip: u64) -> Option<(PlaceId, Place)> {
        let chunk = Chunk::of(ip, mappings.version(mode));
        let shown = self.chunks.get(chunk, || chunk.shown(mappings.region(mode, ip)));
        let shown = shown.unwrap_or_else(|| mappings.region(mode, ip).shown())?;
        Some(self.number(shown.locate(ip)))
    }

    /// The number of a place.
    #[inline]
    fn number(&mut self, located: Located) -> (PlaceId, Place) {
        let Self { ids, count, recent, .. } = self;
        let place = Place::from(located);
        let id = recent.get(place, || {
            let index = place.dso.0 as usize;
            if ids.len() <= index {
                ids.resize_with(index + 1, FxHashMap::default);
            }
            *ids[index].entry(place.address).or_insert_with(|| {
                *count += 1;
                PlaceId(*count - 1)
            })
        });
        (id, place)
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
