//! A buffer of records as the kernel would have written them, with an empty identity at each end.

use oxperf_abi::{EventAttr, Misc, RecordType};
use oxperf_wire::{Encoder, Endian, SampleLayout};

/// The size of the identity that follows the body of every kernel record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trailer {
    bytes: usize,
}

impl Trailer {
    /// The trailer that records of `attr`'s event carry.
    pub fn of(attr: &EventAttr) -> Trailer {
        Trailer {
            bytes: SampleLayout::new(attr).trailer_size(),
        }
    }
}

/// Encoded records of this machine's byte order.
#[derive(Debug)]
pub struct RecordSink {
    encoder: Encoder,
    trailer: Trailer,
}

impl RecordSink {
    /// An empty buffer.
    pub fn new(trailer: Trailer) -> RecordSink {
        RecordSink {
            encoder: Encoder::new(Endian::NATIVE),
            trailer,
        }
    }

    /// Appends a record of a kernel type.
    pub fn kernel_record(&mut self, kind: RecordType, misc: Misc, body: impl FnOnce(&mut Encoder)) {
        let trailer = self.trailer.bytes;
        self.encoder.record(kind, misc, |encoder| {
            body(encoder);
            encoder.bytes(&[0; 48][..trailer.min(48)]);
        });
    }

    /// Appends a record of a tool's type; those end without identity.
    pub fn user_record(&mut self, kind: RecordType, body: impl FnOnce(&mut Encoder)) {
        self.encoder.record(kind, Misc(0), body);
    }

    /// Appends whole records made elsewhere with the same trailer.
    pub fn append(&mut self, records: &[u8]) {
        self.encoder.bytes(records);
    }

    /// The records so far.
    pub fn as_bytes(&self) -> &[u8] {
        self.encoder.as_bytes()
    }

    /// Takes the records.
    pub fn into_bytes(self) -> Vec<u8> {
        self.encoder.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{AttrFlags, SampleType};

    #[test]
    fn trailer_counts_the_identity_fields() {
        let mut attr = EventAttr {
            sample_type: SampleType::IP
                | SampleType::TID
                | SampleType::TIME
                | SampleType::CALLCHAIN,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..EventAttr::default()
        };
        let size = |attr: &EventAttr| {
            let mut sink = RecordSink::new(Trailer::of(attr));
            sink.kernel_record(RecordType::LOST_SAMPLES, Misc(0), |body| body.u64(1));
            sink.into_bytes().len()
        };
        assert_eq!(size(&attr), 8 + 8 + 16);
        attr.flags = AttrFlags::EMPTY;
        assert_eq!(size(&attr), 8 + 8);
    }
}
