//! Located addresses, each place once.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, Located, Machine, MapId, ThreadId};
use rustc_hash::FxHashMap;

/// The number of a located address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId(pub u32);

/// Where an address lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// What is mapped there.
    pub dso: DsoId,
    /// The address in the dso's own space.
    pub address: u64,
}

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
    frames: Vec<Frame>,
    ids: FxHashMap<(u64, MapKey), FrameId>,
    recent: Recent,
}

/// The last frame seen at each of some thousand hashes. Most addresses come again soon, and the table of all frames
/// outgrows the CPU's caches.
#[derive(Debug)]
struct Recent {
    slots: Box<[Option<(u64, MapKey, FrameId)>]>,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { slots: vec![None; Self::SLOTS].into_boxed_slice() }
    }
}

impl Recent {
    const SLOTS: usize = 1 << 15;

    #[inline]
    fn slot(&mut self, ip: u64, map: MapKey) -> &mut Option<(u64, MapKey, FrameId)> {
        let hash = (ip ^ u64::from(map.0) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 15);
        &mut self.slots[hash as usize % Self::SLOTS]
    }
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
        let located = machine.locate(thread, mode, ip);
        let map = MapKey::new(located.map(|located| located.map), mode);
        let slot = self.recent.slot(ip, map);
        if let Some((_, _, id)) = slot.filter(|recent| (recent.0, recent.1) == (ip, map)) {
            return id;
        }
        let id = self.intern_located(ip, map, mode, located);
        *self.recent.slot(ip, map) = Some((ip, map, id));
        id
    }

    fn intern_located(&mut self, ip: u64, map: MapKey, mode: CpuMode, located: Option<Located>) -> FrameId {
        let next = FrameId(self.frames.len() as u32);
        let id = *self.ids.entry((ip, map)).or_insert(next);
        if id == next {
            let place = located.map(|located| Place { dso: located.dso, address: located.address });
            self.frames.push(Frame { ip, mode, place });
        }
        id
    }

    /// A frame.
    #[inline]
    pub fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id.0 as usize]
    }

    /// All frames, by number.
    pub fn all(&self) -> &[Frame] {
        &self.frames
    }

    /// Number of frames.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}
