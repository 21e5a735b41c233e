//! Located addresses, each place once.

use oxperf_abi::CpuMode;
use oxperf_machine::{Located, Machine, MapId, SpaceId, ThreadId};
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
    /// The frame of an address of a thread, as the machine is now.
    #[inline]
    pub fn intern(&mut self, machine: &Machine, thread: ThreadId, mode: CpuMode, ip: u64) -> FrameId {
        self.intern_at(machine, thread, Seen::now(machine, thread, mode, ip))
    }

    /// The frames of several addresses of a thread.
    pub fn intern_all<'t>(
        &'t mut self,
        machine: &'t Machine,
        thread: ThreadId,
        addresses: &'t [(CpuMode, u64)],
    ) -> impl Iterator<Item = FrameId> + use<'t> {
        let kernel = machine.version(thread, CpuMode::Kernel);
        let user = machine.version(thread, CpuMode::User);
        addresses.iter().map(move |&(mode, ip)| {
            let version = match mode {
                CpuMode::Kernel => kernel,
                CpuMode::User => user,
                _ => 0,
            };
            self.intern_at(machine, thread, Seen { ip, version, mode })
        })
    }

    #[inline]
    fn intern_at(&mut self, machine: &Machine, thread: ThreadId, seen: Seen) -> FrameId {
        let Self { fresh, count, mapped, unmapped, recent } = self;
        recent.get(seen, || {
            let Seen { ip, mode, .. } = seen;
            let located = machine.locate(thread, mode, ip);
            let table = match located {
                Some(Located { map, .. }) => table(mapped, map),
                None => unmapped.entry((machine.space(thread), mode)).or_default(),
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
