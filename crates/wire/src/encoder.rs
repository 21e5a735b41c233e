//! Appending numbers and records to a byte buffer.

use oxperf_abi::{Misc, RecordType};

use crate::{Endian, RecordHeader};

/// A growing buffer of encoded bytes.
#[derive(Clone, Debug)]
pub struct Encoder {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Encoder {
    /// An empty buffer.
    pub fn new(endian: Endian) -> Encoder {
        Encoder {
            bytes: Vec::new(),
            endian,
        }
    }

    /// The byte order of the numbers.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes that were written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes what was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Forgets what was written; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Forgets what was written behind the first `length` bytes.
    pub fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends a byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends a 16-bit number.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
    }

    /// Appends a 32-bit number.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
    }

    /// Appends a 64-bit number.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&match self.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        });
    }

    /// Appends a signed 32-bit number.
    pub fn i32(&mut self, value: i32) {
        self.u32(value.cast_unsigned());
    }

    /// Appends a string with its NUL, padded with NULs to a multiple of 8 counted from the string's start.
    pub fn c_string_padded(&mut self, text: &[u8]) {
        self.bytes(text);
        let padded = (text.len() + 1).next_multiple_of(8);
        self.bytes.resize(self.bytes.len() + padded - text.len(), 0);
    }

    /// Appends a record: its header, the body that `body` writes, and NULs up to a multiple of 8.
    ///
    /// A body too large for the 16-bit size field is cut to the largest size that fits.
    pub fn record(&mut self, kind: RecordType, misc: Misc, body: impl FnOnce(&mut Encoder)) {
        let start = self.bytes.len();
        RecordHeader {
            kind,
            misc,
            size: 0,
        }
        .encode(self);
        body(self);
        let size = (self.bytes.len() - start)
            .next_multiple_of(8)
            .min(RecordHeader::MAX_SIZE);
        self.bytes.resize(start + size, 0);
        let stored = match self.endian {
            Endian::Little => (size as u16).to_le_bytes(),
            Endian::Big => (size as u16).to_be_bytes(),
        };
        self.bytes[start + 6..start + 8].copy_from_slice(&stored);
    }
}
