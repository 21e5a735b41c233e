//! Instruction tracing begins.

use oxperf_abi::{Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// Instruction tracing of a thread begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItraceStart {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
}

impl ItraceStart {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<ItraceStart, WireError> {
        Ok(ItraceStart {
            pid: Pid(cursor.i32()?),
            tid: Tid(cursor.i32()?),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = ItraceStart {
            pid: Pid(-1),
            tid: Tid(12),
        };
        round_trip(&record, ItraceStart::encode, |cursor| {
            ItraceStart::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
