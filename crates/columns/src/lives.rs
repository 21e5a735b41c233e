//! When threads began and ended, and which cgroup they were in last.

use oxperf_abi::{PerfTime, RecordType};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::TaskEvent;
use oxperf_wire::{Cursor, Endian};

/// What is known of a thread beside its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Life {
    /// When it was made.
    pub(crate) start: Option<PerfTime>,
    /// When it ended.
    pub(crate) exit: Option<PerfTime>,
    /// Its last cgroup.
    pub(crate) cgroup: Option<u64>,
}

/// The lives of all threads, by number.
#[derive(Debug, Default)]
pub(crate) struct Lives(Vec<Life>);

impl Lives {
    /// The life of a thread.
    pub(crate) fn of(&self, thread: ThreadId) -> Life {
        self.0.get(thread.0 as usize).copied().unwrap_or_default()
    }

    /// The life of a thread, to be changed.
    pub(crate) fn at(&mut self, thread: ThreadId) -> &mut Life {
        let place = thread.0 as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, Life::default());
        }
        &mut self.0[place]
    }

    /// Takes a record of a thread that begins or ends; the machine has applied the first and not yet the second.
    pub(crate) fn follow(&mut self, machine: &Machine, event: &SidebandEvent<'_>, endian: Endian) {
        let kind = event.record.header.kind;
        if kind != RecordType::FORK && kind != RecordType::EXIT {
            return;
        }
        let Ok(task) = TaskEvent::decode(&mut Cursor::new(event.record.body, endian)) else {
            return;
        };
        let Some(thread) = machine.find_thread(task.tid) else {
            return;
        };
        let time = event.id.time.or(Some(task.time));
        match kind {
            RecordType::FORK => self.at(thread).start = time,
            _ => self.at(thread).exit = time,
        }
    }
}
