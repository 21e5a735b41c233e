//! A context switch seen from a CPU.

use oxperf_abi::{Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// A CPU switched; out when the header has [`Misc::SWITCH_OUT`](oxperf_abi::Misc::SWITCH_OUT).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwitchCpuWide {
    /// Process that runs next when out, that ran before when in.
    pub next_prev_pid: Pid,
    /// Its thread.
    pub next_prev_tid: Tid,
}

impl SwitchCpuWide {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SwitchCpuWide, WireError> {
        Ok(SwitchCpuWide {
            next_prev_pid: Pid(cursor.i32()?),
            next_prev_tid: Tid(cursor.i32()?),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.next_prev_pid.0);
        encoder.i32(self.next_prev_tid.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = SwitchCpuWide {
            next_prev_pid: Pid(-1),
            next_prev_tid: Tid(12),
        };
        round_trip(&record, SwitchCpuWide::encode, |cursor| {
            SwitchCpuWide::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
