//! The result of unwinding a stack.

use oxperf_abi::PerfTime;

use crate::{Cursor, Encoder, WireError};

/// The unwinder's result for the sample at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnwindingResult<'a> {
    /// The sample's time.
    pub time: PerfTime,
    /// Duration, ns.
    pub used_time: u64,
    /// The unwinder's error; 0 none.
    pub error_code: u64,
    /// The address at which the error occurred.
    pub error_address: u64,
    /// The lowest address of the copied stack.
    pub stack_start: u64,
    /// The address behind it.
    pub stack_end: u64,
    /// Registers, stack and the chain that came of them, which newer recorders add.
    pub details: &'a [u8],
}

impl<'a> UnwindingResult<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<UnwindingResult<'a>, WireError> {
        Ok(UnwindingResult {
            time: PerfTime(cursor.u64()?),
            used_time: cursor.u64()?,
            error_code: cursor.u64()?,
            error_address: cursor.u64()?,
            stack_start: cursor.u64()?,
            stack_end: cursor.u64()?,
            details: cursor.rest(),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        let error = [self.used_time, self.error_code, self.error_address];
        encoder.u64(self.time.0);
        error
            .into_iter()
            .chain([self.stack_start, self.stack_end])
            .for_each(|word| encoder.u64(word));
        encoder.bytes(self.details);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip;
    use super::*;

    #[test]
    fn round_trips() {
        let record = UnwindingResult {
            time: PerfTime(5),
            used_time: 100,
            error_code: 3,
            error_address: 0x7000,
            stack_start: 0x7ff0,
            stack_end: 0x8000,
            details: &[1, 0, 0, 0, 0, 0, 0, 0],
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| UnwindingResult::decode(cursor) == Ok(record),
        );
    }
}
