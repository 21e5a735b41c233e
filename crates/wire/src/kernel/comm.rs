//! A thread's name.

use oxperf_abi::{Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// A thread took a name; an exec when the header has [`Misc::COMM_EXEC`](oxperf_abi::Misc::COMM_EXEC).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comm<'a> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// The name, 15 bytes at most.
    pub comm: &'a [u8],
}

impl<'a> Comm<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Comm<'a>, WireError> {
        Ok(Comm {
            pid: Pid(cursor.i32()?),
            tid: Tid(cursor.i32()?),
            comm: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        encoder.c_string_padded(self.comm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Comm {
            pid: Pid(-1),
            tid: Tid(12),
            comm: b"/usr/bin/make",
        };
        round_trip(&record, Comm::encode, |cursor| {
            Comm::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
