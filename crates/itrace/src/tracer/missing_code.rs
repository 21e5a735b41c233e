//! Objects whose code cannot be had: it is told when a trace leads there, but not each time, as the rest is the same.
//!
//! As in perf that is twice for an object, and once for one that was looked for before: where a process maps the vdso, what
//! it has mapped tells which vdso that is, up to the first file that can be read. From then on trace is passed over in
//! silence, which takes no time.

use oxperf_abi::{CpuMode, Misc, Pid, RecordType};
use oxperf_machine::{DsoId, DsoKind, Machine};
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::{Comm, Mmap, Mmap2};
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

use crate::code::Images;

/// What was told of them.
#[derive(Debug, Default)]
pub(super) struct Codeless {
    /// How often each was met, up to [`Codeless::MOST`].
    met: FxHashMap<DsoId, u8>,
    /// What processes have mapped since they began, those that have not mapped the vdso yet.
    mapped: FxHashMap<Pid, Vec<DsoId>>,
}

impl Codeless {
    const MOST: u8 = 2;

    /// Takes note of what processes map.
    pub(super) fn follow(
        &mut self,
        (machine, images): (&mut Machine, &mut Images),
        event: &SidebandEvent<'_>,
        endian: Endian,
    ) {
        let (header, mut cursor) = (event.record.header, Cursor::new(event.record.body, endian));
        let mapped = match header.kind {
            RecordType::MMAP => {
                Mmap::decode(&mut cursor).map(|mmap| (mmap.pid, mmap.tid, mmap.start))
            }
            RecordType::MMAP2 => {
                Mmap2::decode(header.misc, &mut cursor).map(|mmap| (mmap.pid, mmap.tid, mmap.start))
            }
            RecordType::COMM if header.misc.has(Misc::COMM_EXEC) => {
                if let Ok(comm) = Comm::decode(&mut cursor) {
                    self.mapped.remove(&comm.pid);
                }
                return;
            }
            _ => return,
        };
        let Ok((pid, tid, start)) = mapped else {
            return;
        };
        let thread = machine.thread(pid, tid);
        let Some(place) = machine.locate(thread, CpuMode::User, start) else {
            return;
        };
        match machine.dso(place.dso).kind {
            DsoKind::Vdso => {
                images.grow(machine);
                let mapped = self.mapped.remove(&pid).unwrap_or_default().into_iter();
                let missing = mapped.take_while(|&object| images.bytes(machine, object).is_none());
                missing.for_each(|object| _ = self.met.entry(object).or_insert(1));
            }
            _ => self.mapped.entry(pid).or_default().push(place.dso),
        }
    }

    /// Whether enough was told of an object that is met again.
    pub(super) fn is_told(&mut self, object: DsoId) -> bool {
        let met = self.met.entry(object).or_default();
        let enough = *met == Codeless::MOST;
        *met = Codeless::MOST.min(*met + 1);
        enough
    }
}
