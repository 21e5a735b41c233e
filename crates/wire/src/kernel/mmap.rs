//! A mapping, without its inode.

use oxperf_abi::{Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// Address space gained a mapping of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mmap<'a> {
    /// Process; -1 for the kernel.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// File offset of the first address; for the kernel the address of the reference symbol.
    pub pgoff: u64,
    /// Path, or a name such as `[vdso]`.
    pub filename: &'a [u8],
}

impl<'a> Mmap<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Mmap<'a>, WireError> {
        Ok(Mmap {
            pid: Pid(cursor.i32()?),
            tid: Tid(cursor.i32()?),
            start: cursor.u64()?,
            len: cursor.u64()?,
            pgoff: cursor.u64()?,
            filename: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        encoder.u64(self.start);
        encoder.u64(self.len);
        encoder.u64(self.pgoff);
        encoder.c_string_padded(self.filename);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Mmap {
            pid: Pid(-1),
            tid: Tid(12),
            start: 0x1122_3344,
            len: 0x1122_3344,
            pgoff: 0x1122_3344,
            filename: b"/usr/bin/make",
        };
        round_trip(&record, Mmap::encode, |cursor| {
            Mmap::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
