//! The accesses to memory that samples hold, while they are collected: each gets a number.

use std::cmp::Reverse;

use oxperf_abi::{CpuMode, DataSource};
use oxperf_machine::{DsoId, Machine, Map};
use oxperf_resolve::{DsoAddress, FrameId as LocatedId, LocatedFrame as Located};
use oxperf_session::SampleEvent;
use rustc_hash::FxHashMap;

use super::named_frames::NamedFrames;
use oxperf_profile::{AccessAddress, AccessFields, CacheLine, FrameId, MemoryAccess};

/// Size of a line, in bytes.
const LINE: u64 = 64;
const MAP_SHARED: u32 = 1;

/// An address of a mode, and its place in an object.
type Address = (CpuMode, u64, Option<(DsoId, u64)>);

/// The accesses so far. Their frames are those of located addresses until [`AccessTable::named`].
#[derive(Clone, Debug, Default)]
pub(super) struct AccessTable {
    known: FxHashMap<MemoryAccess, u64>,
    list: Vec<MemoryAccess>,
    spots: FxHashMap<Address, u32>,
    located: Vec<Located>,
}

impl AccessTable {
    /// The number of a sample's access.
    pub(super) fn of(
        &mut self,
        event: &SampleEvent<'_>,
        wanted: AccessFields,
        machine: &Machine,
    ) -> u64 {
        let sample = &event.sample;
        let (mode, address) = (event.misc.cpu_mode(), sample.addr.unwrap_or(0));
        let ip = sample.ip.unwrap_or(0);
        let mut spot = |mode, address| self.spot(event, machine, mode, address);
        let access = MemoryAccess {
            source: match wanted.source {
                true => sample
                    .data_src
                    .map_or(DataSource::NOTHING_KNOWN, DataSource),
                false => DataSource::default(),
            },
            data: (wanted.data || wanted.line).then(|| spot(mode, address)),
            // The sample holds the mode, but perf looks in all of them here.
            code: wanted
                .code
                .then(|| spot(machine.guess_mode(event.thread, ip), ip)),
            line: wanted.line.then(|| line(event, machine, mode, address)),
            physical: sample.phys_addr.filter(|_| wanted.physical).unwrap_or(0),
            page_size: sample
                .data_page_size
                .filter(|_| wanted.page_size)
                .unwrap_or(0),
        };
        let next = self.list.len() as u64;
        let number = *self.known.entry(access).or_insert(next);
        if number == next {
            self.list.push(access);
        }
        number
    }

    fn spot(
        &mut self,
        event: &SampleEvent<'_>,
        machine: &Machine,
        mode: CpuMode,
        address: u64,
    ) -> AccessAddress {
        let place = machine.locate(event.thread, mode, address);
        let key = (mode, address, place.map(|place| (place.dso, place.address)));
        let located = &mut self.located;
        let frame = *self.spots.entry(key).or_insert_with(|| {
            located.push(Located {
                ip: address,
                mode,
                place: place.map(DsoAddress::from),
            });
            located.len() as u32 - 1
        });
        AccessAddress {
            frame: FrameId(frame),
            address,
            in_object: place.map_or(address, |place| place.address),
        }
    }

    /// The addresses of data and instructions, each once.
    pub(super) fn located(&self) -> &[Located] {
        &self.located
    }

    /// All accesses with the frames that their addresses are named by.
    pub(super) fn named(self, named: &NamedFrames) -> Vec<MemoryAccess> {
        let spot = |spot: AccessAddress| AccessAddress {
            frame: named.frame(LocatedId(spot.frame.0)),
            ..spot
        };
        let rename = |access: MemoryAccess| MemoryAccess {
            data: access.data.map(spot),
            code: access.code.map(spot),
            ..access
        };
        self.list.into_iter().map(rename).collect()
    }
}

/// The line around an address. Memory that is nobody's file is told apart by process.
fn line(event: &SampleEvent<'_>, machine: &Machine, mode: CpuMode, address: u64) -> CacheLine {
    let place = machine.locate(event.thread, mode, address);
    let map: Option<&Map> = place.map(|place| machine.map(place.map));
    let by_user = mode != CpuMode::Kernel;
    let has_file = |map: &Map| map.inode.is_some_and(|inode| inode != 0);
    let is_shared = |map: &Map| map.flags.is_some_and(|flags| flags & MAP_SHARED != 0);
    let private = by_user && map.is_some_and(|map| !is_shared(map) && !has_file(map));
    let build_id = place.and_then(|place| machine.dso(place.dso).build_id);
    let inode = map.and_then(|map| map.inode);
    let is_file = build_id.is_some() || inode.is_none_or(|inode| inode != 0);
    CacheLine {
        by_user,
        unmapped: place.is_none(),
        object: (
            Reverse(build_id),
            inode,
            place.map(|place| place.dso.0).filter(|_| is_file),
        ),
        process: machine.thread_info(event.thread).pid.filter(|_| private),
        address: place.map_or(address, |place| place.address) & !(LINE - 1),
        shared: by_user
            && map.is_some_and(|map| {
                map.is_executable() != Some(true) && is_shared(map) && has_file(map)
            }),
    }
}
