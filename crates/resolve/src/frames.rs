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

/// So often what is new is taken before a mapping that nothing was asked of is forgotten.
const IDLE: u32 = 16;

/// All located addresses of a recording. One address in one mapping is one frame, whatever thread it ran on, as long as it
/// comes now and then; one that is not mapped may be a frame in each address space.
///
/// Each mapping has a table of its own: what a process does at a time stays in the CPU's caches, and the tables of all
/// others need not.
#[derive(Debug, Default)]
pub struct FrameTable {
    /// Those that were not taken.
    fresh: Vec<Frame>,
    count: u32,
    /// By mapping.
    mapped: Vec<Known>,
    unmapped: FxHashMap<(SpaceId, CpuMode), Known>,
    /// How often what was new has been taken.
    turn: u32,
    recent: Recent<Seen, FrameId>,
}

impl FrameTable {
    /// The frame of an address where this was mapped.
    #[inline]
    pub fn intern(&mut self, mappings: &Mappings, mode: CpuMode, ip: u64) -> FrameId {
        let Self { fresh, count, mapped, unmapped, recent, turn } = self;
        recent.get(Seen { ip, version: mappings.version(mode), mode }, || {
            let located = mappings.locate(mode, ip);
            let table = match located {
                Some(Located { map, .. }) => table(mapped, map),
                None => unmapped.entry((mappings.space(), mode)).or_default(),
            };
            table.used = *turn;
            *table.frames.entry(ip).or_insert_with(|| {
                fresh.push(Frame { ip, mode, place: located.map(Place::from) });
                *count += 1;
                FrameId(*count - 1)
            })
        })
    }

    /// The frames that were made since they were last taken, by number.
    ///
    /// What nothing was asked of for a while is forgotten then, because processes end and memory should not grow with their
    /// number: an address that comes after all is a new frame.
    pub fn take_fresh(&mut self) -> Vec<Frame> {
        self.turn += 1;
        if self.turn.is_multiple_of(IDLE) {
            let is_idle = |known: &Known| self.turn - known.used >= IDLE;
            let idle = self.mapped.iter_mut().filter(|known| is_idle(known));
            idle.for_each(|known| known.frames = FxHashMap::default());
            self.unmapped.retain(|_, known| !is_idle(known));
        }
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

/// The frames of a mapping.
#[derive(Debug, Default)]
struct Known {
    frames: FxHashMap<u64, FrameId>,
    /// The turn in which it was last looked into.
    used: u32,
}

fn table(tables: &mut Vec<Known>, map: MapId) -> &mut Known {
    let index = map.0 as usize;
    if tables.len() <= index {
        tables.resize_with(index + 1, Known::default);
    }
    &mut tables[index]
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Pid, Tid};
    use oxperf_machine::Machine;

    #[test]
    fn what_nothing_is_asked_of_is_forgotten() {
        let mut machine = Machine::default();
        let mappings = [1, 2].map(|pid| {
            let thread = machine.thread(Pid(pid), Tid(pid));
            machine.mappings(thread)
        });
        let mut frames = FrameTable::default();
        let [first, second] = [0, 1].map(|at| frames.intern(&mappings[at], CpuMode::User, 8 + at as u64));
        for turn in 0..2 * IDLE {
            // Asked of again and again, but not so often that the small table answers for it.
            let other = 1000 + u64::from(turn);
            frames.intern(&mappings[1], CpuMode::User, other);
            assert!(!frames.take_fresh().is_empty());
        }
        assert_eq!(frames.unmapped.len(), 1);
        assert_eq!(frames.intern(&mappings[1], CpuMode::User, 9), second);
        assert_ne!(first, second);
    }
}
