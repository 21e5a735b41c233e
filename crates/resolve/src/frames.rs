//! Located addresses, each place once.

use oxperf_abi::CpuMode;
use oxperf_machine::{DsoId, MapId, MappedAddress, Mappings};
use rustc_hash::FxHashMap;

use crate::DsoAddress;
use crate::recent::RecentAddresses;

/// The number of a located address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId(pub u32);

/// A located address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocatedFrame {
    /// The address as recorded.
    pub ip: u64,
    /// The mode it was recorded in.
    pub mode: CpuMode,
    /// Its place; `None` where nothing was mapped.
    pub place: Option<DsoAddress>,
}

/// All located addresses of a recording. One address at one place of one object is one frame, whatever process it ran in;
/// where nothing was mapped, one address of a mode is.
///
/// Each object has a table for each distance that it was moved by, and so has each mebibyte of what is not mapped: what a
/// process does at a time stays in the CPU's caches, and the tables of all others need not.
#[derive(Debug, Default)]
pub struct FrameTable {
    /// Those that were not taken.
    fresh: Vec<LocatedFrame>,
    count: u32,
    tables: Vec<Known>,
    /// The table of each owner: of an object, or of nothing at all.
    owners: FxHashMap<Owner, usize>,
    /// The last owner in each mapping, and its table.
    of_map: Vec<Option<(Owner, usize)>>,
    /// The last owner and its table where nothing is mapped.
    of_nothing: Option<(Owner, usize)>,
    recent: RecentAddresses<FrameId>,
}

/// The frames of an owner by their recorded addresses.
type Known = FxHashMap<u64, FrameId>;

/// The owner of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Owner {
    /// An object, and how far its addresses are from those recorded.
    Object(DsoId, u64),
    /// Nothing, in some mebibyte.
    Nothing(CpuMode, u64),
}

impl FrameTable {
    /// The frame of an address where this was mapped.
    #[inline]
    pub fn intern(&mut self, mappings: &Mappings, mode: CpuMode, ip: u64) -> FrameId {
        let Self {
            fresh,
            count,
            tables,
            owners,
            of_map,
            of_nothing,
            recent,
        } = self;
        recent.get(mappings.version(mode), mode, ip, || {
            let located = mappings.locate(mode, ip);
            let (owner, last) = match located {
                Some(MappedAddress { map, dso, address }) => (
                    Owner::Object(dso, ip.wrapping_sub(address)),
                    last_of(of_map, map),
                ),
                None => (Owner::Nothing(mode, ip >> 20), of_nothing),
            };
            let table = match last {
                Some((known, table)) if *known == owner => *table,
                last => last.insert((owner, table_of(tables, owners, owner))).1,
            };
            *tables[table].entry(ip).or_insert_with(|| {
                fresh.push(LocatedFrame {
                    ip,
                    mode,
                    place: located.map(DsoAddress::from),
                });
                *count += 1;
                FrameId(*count - 1)
            })
        })
    }

    /// The frames that were made since they were last taken, by number.
    pub fn take_fresh(&mut self) -> Vec<LocatedFrame> {
        std::mem::take(&mut self.fresh)
    }

    /// Number of frames, those that were taken too.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

fn table_of(tables: &mut Vec<Known>, owners: &mut FxHashMap<Owner, usize>, owner: Owner) -> usize {
    *owners.entry(owner).or_insert_with(|| {
        tables.push(Known::default());
        tables.len() - 1
    })
}

fn last_of(of_map: &mut Vec<Option<(Owner, usize)>>, map: MapId) -> &mut Option<(Owner, usize)> {
    let index = map.0 as usize;
    if of_map.len() <= index {
        of_map.resize(index + 1, None);
    }
    &mut of_map[index]
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Pid, Tid};
    use oxperf_machine::Machine;

    #[test]
    fn what_lies_nowhere_is_one_frame_in_all_processes() {
        let mut machine = Machine::default();
        let [one, other] = [1, 2].map(|pid| {
            let thread = machine.thread(Pid(pid), Tid(pid));
            machine.mappings(thread)
        });
        let mut frames = FrameTable::default();
        let first = frames.intern(&one, CpuMode::User, 8);
        assert_eq!(frames.intern(&other, CpuMode::User, 8), first);
        assert_ne!(frames.intern(&other, CpuMode::Kernel, 8), first);
        assert_eq!(
            (
                frames.len(),
                frames.take_fresh().len(),
                frames.take_fresh().len()
            ),
            (2, 2, 0)
        );
    }
}
