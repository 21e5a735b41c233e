//! The identity of a binary.

use std::fmt;

/// An ELF build id: up to 20 bytes, as `perf.data` stores it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId {
    bytes: [u8; 20],
    len: u8,
}

impl BuildId {
    /// Takes the first 20 bytes of `bytes`; `None` when there are none.
    pub fn new(bytes: &[u8]) -> Option<BuildId> {
        let len = bytes.len().min(20);
        let mut stored = [0; 20];
        stored[..len].copy_from_slice(&bytes[..len]);
        (len > 0).then_some(BuildId {
            bytes: stored,
            len: len as u8,
        })
    }

    /// The bytes that are part of the id.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The id in a field of 20 bytes, zero padded.
    pub fn padded(&self) -> &[u8; 20] {
        &self.bytes
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}
