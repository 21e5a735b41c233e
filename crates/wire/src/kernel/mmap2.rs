//! A mapping with the identity of its file.

use oxperf_abi::{BuildId, Misc, Pid, Tid};

use crate::{Cursor, Encoder, WireError};

/// Identity of the file that a mapping shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileIdentity {
    /// Device and inode.
    Inode {
        /// Major device number.
        major: u32,
        /// Minor device number.
        minor: u32,
        /// Inode.
        inode: u64,
        /// Inode generation.
        generation: u64,
    },
    /// Build id, when the header has [`Misc::MMAP_BUILD_ID`]; `None` when it is empty.
    BuildId(Option<BuildId>),
}

/// Address space gained a mapping of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mmap2<'a> {
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
    /// The file.
    pub identity: FileIdentity,
    /// `PROT_*` bits.
    pub prot: u32,
    /// `MAP_*` bits.
    pub flags: u32,
    /// Path, or a name such as `[vdso]`.
    pub filename: &'a [u8],
}

impl<'a> Mmap2<'a> {
    /// Decodes the body; `misc` says which identity it holds.
    pub fn decode(misc: Misc, cursor: &mut Cursor<'a>) -> Result<Mmap2<'a>, WireError> {
        Ok(Mmap2 {
            pid: Pid(cursor.i32()?),
            tid: Tid(cursor.i32()?),
            start: cursor.u64()?,
            len: cursor.u64()?,
            pgoff: cursor.u64()?,
            identity: FileIdentity::decode(misc, cursor)?,
            prot: cursor.u32()?,
            flags: cursor.u32()?,
            filename: cursor.c_string()?,
        })
    }

    /// Appends the body; the caller sets [`Misc::MMAP_BUILD_ID`] as [`FileIdentity::misc`] says.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        for word in [self.start, self.len, self.pgoff] {
            encoder.u64(word);
        }
        self.identity.encode(encoder);
        encoder.u32(self.prot);
        encoder.u32(self.flags);
        encoder.c_string_padded(self.filename);
    }
}

impl FileIdentity {
    /// The header bit that this kind of identity needs.
    pub fn misc(&self) -> Misc {
        match self {
            FileIdentity::Inode { .. } => Misc(0),
            FileIdentity::BuildId(_) => Misc(Misc::MMAP_BUILD_ID),
        }
    }

    fn decode(misc: Misc, cursor: &mut Cursor<'_>) -> Result<FileIdentity, WireError> {
        if misc.has(Misc::MMAP_BUILD_ID) {
            let size = usize::from(cursor.u8()?);
            cursor.bytes(3)?;
            let bytes = cursor.bytes(20)?;
            return Ok(FileIdentity::BuildId(BuildId::new(&bytes[..size.min(20)])));
        }
        Ok(FileIdentity::Inode {
            major: cursor.u32()?,
            minor: cursor.u32()?,
            inode: cursor.u64()?,
            generation: cursor.u64()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        match self {
            FileIdentity::Inode {
                major,
                minor,
                inode,
                generation,
            } => {
                encoder.u32(*major);
                encoder.u32(*minor);
                encoder.u64(*inode);
                encoder.u64(*generation);
            }
            FileIdentity::BuildId(id) => {
                encoder.u8(id.map_or(0, |id| id.as_bytes().len() as u8));
                encoder.bytes(&[0; 3]);
                encoder.bytes(id.as_ref().map_or(&[0; 20][..], |id| id.padded()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips_with_either_identity() {
        let inode = FileIdentity::Inode {
            major: 8,
            minor: 1,
            inode: 99,
            generation: 3,
        };
        for identity in [
            inode,
            FileIdentity::BuildId(BuildId::new(&[7; 20])),
            FileIdentity::BuildId(None),
        ] {
            let record = Mmap2 {
                pid: Pid(1),
                tid: Tid(2),
                start: 0x40_0000,
                len: 0x1000,
                pgoff: 0,
                identity,
                prot: 5,
                flags: 2,
                filename: b"/bin/x",
            };
            round_trip(&record, Mmap2::encode, |cursor| {
                Mmap2::decode(identity.misc(), cursor).map(|read| assert_eq!(read, record))
            });
        }
    }
}
