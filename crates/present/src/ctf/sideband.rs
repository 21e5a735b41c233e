//! The records that tell of tasks, mappings and switches, as events of their own (`--all`).

use oxperf_abi::Misc;
use oxperf_wire::SampleId;
use oxperf_wire::kernel::{Comm, Mmap, Mmap2, TaskEvent};

use super::EventClass;
use super::layout::{Integer, Kind, put_text};
use crate::records::KernelRecord;

/// A record on its way into a packet.
#[derive(Clone, Copy, Debug)]
pub enum Sideband<'a> {
    /// A name.
    Comm(Comm<'a>),
    /// A thread's end.
    Exit(TaskEvent),
    /// A thread's start.
    Fork(TaskEvent),
    /// A mapping.
    Mmap(Mmap<'a>),
    /// A mapping with its file's identity.
    Mmap2(Mmap2<'a>),
    /// A thread leaves a CPU or comes back: its record's flags, its ids, those of the other one.
    Switch {
        /// The direction.
        misc: Misc,
        /// Process and thread.
        ids: (i32, i32),
        /// The other thread, next or before; -1 where the record has none.
        other: (i32, i32),
    },
}

const ID: Kind = Kind::Integer(Integer::S32);

impl<'a> Sideband<'a> {
    /// The kinds of events, in the order of [`Sideband::class`].
    pub fn classes() -> Vec<EventClass> {
        let task = || {
            let names = ["pid", "ppid", "tid", "ptid"].map(|name| (name, ID));
            [&names[..], &[("time", Kind::Integer(Integer::U64))]].concat()
        };
        let map = || {
            let start = ("start", Kind::Integer(Integer::Hex64));
            vec![("pid", ID), ("tid", ID), start, ("filename", Kind::Text)]
        };
        let flags = ["out", "preempt"].map(|name| (name, Kind::Integer(Integer::U32)));
        let ids = ["pid", "tid", "next_prev_pid", "next_prev_tid"].map(|name| (name, ID));
        vec![
            class(
                "perf_comm",
                &[("pid", ID), ("tid", ID), ("comm", Kind::Text)],
            ),
            class("perf_exit", &task()),
            class("perf_fork", &task()),
            class("perf_mmap", &map()),
            class("perf_mmap2", &map()),
            class("perf_context_switch", &[&ids[..], &flags[..]].concat()),
        ]
    }

    /// The number of its kind.
    pub fn class(&self) -> usize {
        match self {
            Sideband::Comm(_) => 0,
            Sideband::Exit(_) => 1,
            Sideband::Fork(_) => 2,
            Sideband::Mmap(_) => 3,
            Sideband::Mmap2(_) => 4,
            Sideband::Switch { .. } => 5,
        }
    }

    /// The event of a record; `None` for those that are no event of a trace. `misc` is the flag word of its header, `id` its
    /// trailer.
    pub fn of(record: &KernelRecord<'a>, misc: Misc, id: &SampleId) -> Option<Sideband<'a>> {
        let ids = (
            id.pid.map_or(-1, |pid| pid.0),
            id.tid.map_or(-1, |tid| tid.0),
        );
        Some(match *record {
            KernelRecord::Comm(record) => Sideband::Comm(record),
            KernelRecord::Exit(record) => Sideband::Exit(record),
            KernelRecord::Fork(record) => Sideband::Fork(record),
            KernelRecord::Mmap(record) => Sideband::Mmap(record),
            KernelRecord::Mmap2(record) => Sideband::Mmap2(record),
            KernelRecord::Switch => Sideband::Switch {
                misc,
                ids,
                other: (-1, -1),
            },
            KernelRecord::SwitchCpuWide(other) => Sideband::Switch {
                misc,
                ids,
                other: (other.next_prev_pid.0, other.next_prev_tid.0),
            },
            _ => return None,
        })
    }

    /// Appends its fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Sideband::Comm(record) => {
                put_ids(out, &[record.pid.0, record.tid.0]);
                put_text(out, &String::from_utf8_lossy(record.comm));
            }
            Sideband::Exit(record) | Sideband::Fork(record) => {
                put_ids(
                    out,
                    &[record.pid.0, record.ppid.0, record.tid.0, record.ptid.0],
                );
                Integer::U64.put(out, record.time.0);
            }
            Sideband::Mmap(record) => {
                put_map(
                    out,
                    [record.pid.0, record.tid.0],
                    record.start,
                    record.filename,
                );
            }
            Sideband::Mmap2(record) => {
                put_map(
                    out,
                    [record.pid.0, record.tid.0],
                    record.start,
                    record.filename,
                );
            }
            Sideband::Switch { misc, ids, other } => {
                put_ids(out, &[ids.0, ids.1, other.0, other.1]);
                for flag in [Misc::SWITCH_OUT, Misc::SWITCH_OUT_PREEMPT] {
                    Integer::U32.put(out, misc.has(flag).into());
                }
            }
        }
    }
}

fn class(name: &str, members: &[(&str, Kind)]) -> EventClass {
    let mut class = EventClass::new(name);
    members
        .iter()
        .for_each(|(name, kind)| class.add(name, kind.clone()));
    class
}

fn put_ids(out: &mut Vec<u8>, ids: &[i32]) {
    ids.iter()
        .for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
}

fn put_map(out: &mut Vec<u8>, ids: [i32; 2], start: u64, filename: &[u8]) {
    put_ids(out, &ids);
    Integer::Hex64.put(out, start);
    put_text(out, &String::from_utf8_lossy(filename));
}
