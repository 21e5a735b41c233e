//! Counter values of a thread that ends.

use oxperf_abi::{Pid, ReadFormat, Tid};

use crate::{Cursor, Encoder, ReadValues, WireError};

/// The counter values of a thread (`inherit_stat`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadRecord<'a> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// The values, shaped by the event's read format.
    pub values: ReadValues<'a>,
}

impl<'a> ReadRecord<'a> {
    /// Decodes the body.
    pub fn decode(
        format: ReadFormat,
        cursor: &mut Cursor<'a>,
    ) -> Result<ReadRecord<'a>, WireError> {
        Ok(ReadRecord {
            pid: Pid(cursor.i32()?),
            tid: Tid(cursor.i32()?),
            values: ReadValues::decode(format, cursor)?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        self.values.encode(encoder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoder, Endian};

    #[test]
    fn the_thread_stands_before_the_values() {
        let mut body = Encoder::new(Endian::Little);
        body.i32(1);
        body.i32(2);
        body.u64(33);
        let read = ReadRecord::decode(
            ReadFormat::EMPTY,
            &mut Cursor::new(body.as_bytes(), Endian::Little),
        )
        .unwrap();
        assert_eq!(
            (read.tid, read.values.values().next().unwrap().value),
            (Tid(2), 33)
        );
    }
}
