//! The threads that were asked for.

use crate::{Cursor, Encoder, WireError};

/// One thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadMapEntry {
    /// Thread; all ones for any.
    pub pid: u64,
    /// Its name, 15 bytes at most.
    pub comm: Vec<u8>,
}

/// THREAD_MAP: the threads that were recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadMap {
    /// The threads.
    pub entries: Vec<ThreadMapEntry>,
}

impl ThreadMap {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<ThreadMap, WireError> {
        let count = cursor.u64()?;
        let mut table = Cursor::new(cursor.items(count, 24)?, cursor.endian());
        let entries = std::iter::from_fn(|| decode_entry(&mut table).ok()).collect();
        Ok(ThreadMap { entries })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.entries.len() as u64);
        for entry in &self.entries {
            let mut comm = [0; 16];
            let len = entry.comm.len().min(15);
            comm[..len].copy_from_slice(&entry.comm[..len]);
            encoder.u64(entry.pid);
            encoder.bytes(&comm);
        }
    }
}

fn decode_entry(table: &mut Cursor<'_>) -> Result<ThreadMapEntry, WireError> {
    let pid = table.u64()?;
    let comm = table.bytes(16)?;
    let len = comm
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(comm.len());
    Ok(ThreadMapEntry {
        pid,
        comm: comm[..len].to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let map = ThreadMap {
            entries: vec![ThreadMapEntry {
                pid: 7,
                comm: b"make".to_vec(),
            }],
        };
        let mut body = Encoder::new(Endian::Little);
        map.encode(&mut body);
        assert_eq!(
            ThreadMap::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
            Ok(map)
        );
    }
}
