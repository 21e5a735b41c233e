//! Objects whose code cannot be had: that is an error when a trace leads there, but not each time.
//!
//! As in perf there are two errors for an object, and one for an object that was looked for before: where a process maps
//! the vdso, the files that it has mapped are read to find out which vdso that is, up to the first that can be read. From
//! then on trace is passed over in silence, which takes no time.

use oxperf_abi::{CpuMode, Misc, Pid, RecordType};
use oxperf_machine::{DsoId, DsoKind, Machine};
use oxperf_session::SidebandEvent;
use oxperf_wire::kernel::{Comm, Mmap, Mmap2};
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

use crate::code::Images;

/// Objects whose code cannot be had.
#[derive(Debug, Default)]
pub(super) struct MissingCode {
    /// Times that each was met, up to [`MissingCode::MAX_ERRORS`].
    met: FxHashMap<DsoId, u8>,
    /// The objects that processes have mapped since they began, for those that have not mapped the vdso yet.
    mapped: FxHashMap<Pid, Vec<DsoId>>,
}

impl MissingCode {
    const MAX_ERRORS: u8 = 2;

    /// Takes note of objects that processes map.
    pub(super) fn follow(
        &mut self,
        machine: &mut Machine,
        images: &mut Images,
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

    /// Notes that an object was met; true when there were enough errors of it before.
    pub(super) fn is_known(&mut self, object: DsoId) -> bool {
        let met = self.met.entry(object).or_default();
        let enough = *met == MissingCode::MAX_ERRORS;
        *met = MissingCode::MAX_ERRORS.min(*met + 1);
        enough
    }
}
