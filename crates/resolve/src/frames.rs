//! Located addresses, each place once.

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, MapId, ThreadId};
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

/// All located addresses of a recording. One address in one mapping is one frame, whatever thread it ran on.
#[derive(Debug, Default)]
pub struct FrameTable {
    /// Those that were not taken.
    fresh: Vec<Frame>,
    ids: FxHashMap<(u64, MapKey), FrameId>,
    recent: Recent<Seen, FrameId>,
}

/// A mapping, or the mode for addresses without one: dense numbers from the top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct MapKey(u32);

impl MapKey {
    fn new(map: Option<MapId>, mode: CpuMode) -> MapKey {
        MapKey(map.map_or(u32::MAX - mode as u32, |map| map.0))
    }
}

impl FrameTable {
    /// The frame of an address of a thread, as the machine is now.
    #[inline]
    pub fn intern(&mut self, machine: &Machine, thread: ThreadId, mode: CpuMode, ip: u64) -> FrameId {
        let seen = Seen::now(machine, thread, mode, ip);
        let (fresh, ids) = (&mut self.fresh, &mut self.ids);
        self.recent.get(seen, seen.mix(), || {
            let located = machine.locate(thread, mode, ip);
            let map = MapKey::new(located.map(|located| located.map), mode);
            let next = FrameId(ids.len() as u32);
            let id = *ids.entry((ip, map)).or_insert(next);
            if id == next {
                fresh.push(Frame { ip, mode, place: located.map(Place::from) });
            }
            id
        })
    }

    /// The frames that were made since they were last taken, by number.
    pub fn take_fresh(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.fresh)
    }

    /// Number of frames, those that were taken too.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}
