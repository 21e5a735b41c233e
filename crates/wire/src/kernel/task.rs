//! Threads that begin and end.

use oxperf_abi::{PerfTime, Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// FORK and EXIT: a thread and its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskEvent {
    /// Process.
    pub pid: Pid,
    /// Parent's process.
    pub ppid: Pid,
    /// Thread.
    pub tid: Tid,
    /// Parent's thread.
    pub ptid: Tid,
    /// The time.
    pub time: PerfTime,
}

impl TaskEvent {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<TaskEvent, WireError> {
        Ok(TaskEvent {
            pid: Pid(cursor.i32()?),
            ppid: Pid(cursor.i32()?),
            tid: Tid(cursor.i32()?),
            ptid: Tid(cursor.i32()?),
            time: PerfTime(cursor.u64()?),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        for id in [self.pid.0, self.ppid.0, self.tid.0, self.ptid.0] {
            encoder.i32(id);
        }
        encoder.u64(self.time.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = TaskEvent {
            pid: Pid(1),
            ppid: Pid(2),
            tid: Tid(3),
            ptid: Tid(4),
            time: PerfTime(5),
        };
        round_trip(&record, TaskEvent::encode, |cursor| {
            TaskEvent::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
