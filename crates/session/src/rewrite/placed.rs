//! Records on their way into the new file, and where its AUX data come to stand.

use oxperf_abi::{FileOffset, RecordType};
use oxperf_data::features::AuxtraceEntry;
use oxperf_data::{Output, RawRecord, WriteError, Writer};
use oxperf_wire::{Encoder, Endian, RecordHeader};

/// A writer with a buffer before it.
#[derive(Debug)]
pub(super) struct Placed<O> {
    writer: Writer<O>,
    buffer: Encoder,
    auxtrace: Vec<AuxtraceEntry>,
}

/// Bytes kept before they are written.
const BUFFER: usize = 1 << 20;

impl<O: Output> Placed<O> {
    pub(super) fn new(writer: Writer<O>) -> Placed<O> {
        Placed {
            writer,
            buffer: Encoder::new(Endian::NATIVE),
            auxtrace: Vec::new(),
        }
    }

    /// Appends a record that is in this machine's byte order.
    pub(super) fn append(&mut self, record: &RawRecord<'_>) -> Result<(), WriteError> {
        if record.header.kind == RecordType::AUXTRACE {
            let offset = FileOffset(self.writer.position().0 + self.buffer.len() as u64);
            self.auxtrace.push(AuxtraceEntry {
                offset,
                size: (RecordHeader::SIZE + record.body.len()) as u64,
            });
        }
        let size = (RecordHeader::SIZE + record.body.len()) as u32;
        RecordHeader {
            size,
            ..record.header
        }
        .encode(&mut self.buffer);
        self.buffer.bytes(record.body);
        self.buffer.bytes(record.payload);
        if self.buffer.len() >= BUFFER {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.writer.append(self.buffer.as_bytes())?;
        self.buffer.clear();
        Ok(())
    }

    /// The writer, which holds everything now, and the places of the AUX data.
    pub(super) fn finish(mut self) -> Result<(Writer<O>, Vec<AuxtraceEntry>), WriteError> {
        self.flush()?;
        Ok((self.writer, self.auxtrace))
    }
}
