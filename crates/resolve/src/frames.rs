//! Located addresses, each place once.

use oxperf_abi::CpuMode;
use oxperf_machine::{Located, MapId, Mappings, SpaceId};
use rustc_hash::FxHashMap;

use crate::Place;
use crate::recent::{Recent, Seen};

/// The number of a located address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId(pub u32);

/// A located address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The address as recorded.
    pub ip: u64,
    /// The mode it was recorded in.
    pub mode: CpuMode,
    /// Its place; `None` where nothing was mapped.
    pub place: Option<Place>,
}

/// All located addresses of a recording. One address in one mapping is one frame, whatever thread it ran on; one that is
/// not mapped may be a frame in each address space.
///
/// Each mapping has a table of its own: what a process does at a time stays in the CPU's caches, and the tables of all
/// others need not.
#[derive(Debug, Default)]
pub struct FrameTable {
    /// Those that were not taken.
    fresh: Vec<Frame>,
    count: u32,
    /// By mapping.
    mapped: Vec<FxHashMap<u64, FrameId>>,
    unmapped: FxHashMap<(SpaceId, CpuMode), FxHashMap<u64, FrameId>>,
    recent: Recent<Seen, FrameId>,
}

impl FrameTable {
    /// The frame of an address where this was mapped.
    #[inline]
    pub fn intern(&mut self, mappings: &Mappings, mode: CpuMode, ip: u64) -> FrameId {
        let Self { fresh, count, mapped, unmapped, recent } = self;
        recent.get(Seen { ip, version: mappings.version(mode), mode }, || {
            let located = mappings.locate(mode, ip);
            let table = match located {
                Some(Located { map, .. }) => table(mapped, map),
                None => unmapped.entry((mappings.space(), mode)).or_default(),
            };
            *table.entry(ip).or_insert_with(|| {
                fresh.push(Frame { ip, mode, place: located.map(Place::from) });
                *count += 1;
                FrameId(*count - 1)
            })
        })
    }

    /// The frames that were made since they were last taken, by number.
    pub fn take_fresh(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.fresh)
    }

    /// Number of frames, those that were taken too.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

fn table(tables: &mut Vec<FxHashMap<u64, FrameId>>, map: MapId) -> &mut FxHashMap<u64, FrameId> {
    let index = map.0 as usize;
    if tables.len() <= index {
        tables.resize_with(index + 1, FxHashMap::default);
    }
    &mut tables[index]
}
