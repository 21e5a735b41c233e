//! The name of a cgroup.

use crate::{Cursor, Encoder, WireError};

/// A cgroup's id and path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cgroup<'a> {
    /// The id that samples carry.
    pub id: u64,
    /// Path below the cgroup root.
    pub path: &'a [u8],
}

impl<'a> Cgroup<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Cgroup<'a>, WireError> {
        Ok(Cgroup {
            id: cursor.u64()?,
            path: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.id);
        encoder.c_string_padded(self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Cgroup {
            id: 0x1122_3344,
            path: b"/usr/bin/make",
        };
        round_trip(&record, Cgroup::encode, |cursor| {
            Cgroup::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
