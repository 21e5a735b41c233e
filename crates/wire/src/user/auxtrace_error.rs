//! A decoder's error, as `perf inject` writes it.

use oxperf_abi::{PerfTime, Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// AUXTRACE_ERROR: trace could not be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxtraceError<'a> {
    /// Kind of error: 1 instruction trace.
    pub kind: u32,
    /// The decoder's number for it.
    pub code: u32,
    /// CPU; -1 for unknown.
    pub cpu: i32,
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// Address.
    pub ip: u64,
    /// Time; `None` in the first form of the record.
    pub time: Option<PerfTime>,
    /// The decoder's message, 63 bytes at most.
    pub message: &'a [u8],
    /// The guest's process and its CPU; `None` in the first two forms.
    pub guest: Option<(Pid, u32)>,
}

const MESSAGE: usize = 64;

impl<'a> AuxtraceError<'a> {
    /// Decodes the body; the message may be cut behind its NUL.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<AuxtraceError<'a>, WireError> {
        let (kind, code, cpu) = (cursor.u32()?, cursor.u32()?, cursor.i32()?);
        let (pid, tid, form) = (Pid(cursor.i32()?), Tid(cursor.i32()?), cursor.u32()?);
        let ip = cursor.u64()?;
        let time = if form >= 1 {
            Some(PerfTime(cursor.u64()?))
        } else {
            None
        };
        let message = cursor.bytes(MESSAGE.min(cursor.remaining()))?;
        let end = message
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(message.len());
        let guest = if form >= 2 && cursor.remaining() >= 8 {
            Some((Pid(cursor.i32()?), cursor.u32()?))
        } else {
            None
        };
        Ok(AuxtraceError {
            kind,
            code,
            cpu,
            pid,
            tid,
            ip,
            time,
            message: &message[..end],
            guest,
        })
    }

    /// Appends the body in the shortest form that holds what is known.
    pub fn encode(&self, encoder: &mut Encoder) {
        let form = if self.guest.is_some() {
            2
        } else {
            u32::from(self.time.is_some())
        };
        encoder.u32(self.kind);
        encoder.u32(self.code);
        encoder.i32(self.cpu);
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        encoder.u32(form);
        encoder.u64(self.ip);
        if form >= 1 {
            encoder.u64(self.time.unwrap_or_default().0);
        }
        let mut message = [0; MESSAGE];
        let len = self.message.len().min(MESSAGE - 1);
        message[..len].copy_from_slice(&self.message[..len]);
        encoder.bytes(&message);
        if let Some((pid, vcpu)) = self.guest {
            encoder.i32(pid.0);
            encoder.u32(vcpu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn every_form_round_trips() {
        let first = AuxtraceError {
            kind: 1,
            code: 6,
            cpu: -1,
            pid: Pid(2),
            tid: Tid(3),
            ip: 4,
            time: None,
            message: b"lost",
            guest: None,
        };
        let second = AuxtraceError {
            time: Some(PerfTime(9)),
            ..first
        };
        for record in [
            first,
            second,
            AuxtraceError {
                guest: Some((Pid(7), 1)),
                ..second
            },
        ] {
            let mut body = Encoder::new(Endian::Little);
            record.encode(&mut body);
            assert_eq!(
                AuxtraceError::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
                Ok(record)
            );
        }
    }
}
