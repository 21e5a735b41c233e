//! A file of the records of one ring, in a directory. Each is written by the thread that drains the ring: it has all that
//! this takes.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oxperf_abi::FileOffset;
use oxperf_data::{FilePart, PartWriter, WriteError};

use super::RecordOutput;
use super::compression::Compressor;
use crate::finish::{FileRecords, Tally};

/// A file of records that is being written.
pub(crate) struct RecordingPart {
    writer: PartWriter<File>,
    /// Bytes of all files of the directory, for those who watch its size.
    bytes_of_all: Arc<AtomicU64>,
    compression: Option<Compressor>,
    /// Counts records that are compressed: these are not read back.
    tally: Tally,
}

impl RecordingPart {
    /// An empty file, whose records are compressed if there is something to compress them.
    pub(super) fn new(
        file: File,
        bytes_of_all: Arc<AtomicU64>,
        compression: Option<Compressor>,
        tally: Tally,
    ) -> RecordingPart {
        RecordingPart {
            writer: PartWriter::new(file),
            bytes_of_all,
            compression,
            tally,
        }
    }

    pub(super) fn compression(&self) -> Option<&Compressor> {
        self.compression.as_ref()
    }

    /// The records as they lie in the file.
    pub(super) fn written_records(&self) -> FileRecords<'_> {
        FileRecords {
            file: self.writer.output(),
            range: 0..self.writer.size(),
        }
    }

    /// The count of what was compressed.
    pub(super) fn take_tally(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }

    #[cold]
    fn unpacked(&self, records: &[u8], source: io::Error) -> WriteError {
        WriteError {
            part: FilePart::Records,
            offset: FileOffset(self.writer.size()),
            size: records.len() as u64,
            written: 0,
            safe: self.writer.size(),
            source,
        }
    }
}

impl RecordOutput for RecordingPart {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let before = self.writer.size();
        match &mut self.compression {
            None => self.writer.append(records)?,
            Some(compression) => {
                self.tally.take(records);
                match compression.pack(records) {
                    Ok(packed) => self.writer.append(packed)?,
                    Err(source) => return Err(self.unpacked(records, source)),
                }
            }
        }
        let written = self.writer.size() - before;
        self.bytes_of_all.fetch_add(written, Ordering::Relaxed);
        Ok(())
    }

    /// Records of one ring are in order, and readers see them at once.
    fn end_pass(&mut self, _: Option<&[u8]>) -> Result<(), WriteError> {
        Ok(())
    }
}
