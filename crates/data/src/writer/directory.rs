//! The files of a recording that is a directory: one with the header, which a [`Writer`](super::Writer) writes and whose
//! features say so ([`DirFormat`](crate::features::DirFormat)), and one for the records of each ring.

use oxperf_abi::FileOffset;
use oxperf_wire::Endian;

use super::error::Failed;
use super::{FilePart, Output, WriteError};
use crate::reader::framing::Framing;

/// The name of the file with the header.
pub const DATA_NAME: &str = "data";
/// The name of the folder in the directory with a copy of the kernel's code and lists.
pub const KERNEL_COPY_NAME: &str = "kcore_dir";

/// The name of a file of records.
pub fn part_name(index: usize) -> String {
    format!("data.{index}")
}

/// The number of a file of records, from its name; `None` for any other file.
pub fn part_index(name: &str) -> Option<usize> {
    let rest = name.strip_prefix(DATA_NAME)?;
    rest.strip_prefix('.')?.parse().ok()
}

/// A file of records without a header. Whoever has it writes it: a directory has one for each thread that writes, or more.
#[derive(Debug)]
pub struct PartWriter<O> {
    output: O,
    /// End of the whole records in the output.
    end: u64,
}

impl<O: Output> PartWriter<O> {
    /// Writes to an output that should be empty.
    pub fn new(output: O) -> PartWriter<O> {
        PartWriter { output, end: 0 }
    }

    /// Appends whole records, in one write where the output takes it. Readers see them at once.
    ///
    /// # Errors
    /// The output takes only a part; [`WriteError::safe`] says how many bytes of whole records it has.
    pub fn append(&mut self, records: &[u8]) -> Result<(), WriteError> {
        match self.output.write_all_at(records, self.end) {
            Ok(()) => {
                self.end += records.len() as u64;
                Ok(())
            }
            Err(failed) => Err(self.append_failed(records, failed)),
        }
    }

    /// Bytes of whole records appended so far.
    pub fn size(&self) -> u64 {
        self.end
    }

    /// The output that is written to.
    pub fn output(&self) -> &O {
        &self.output
    }

    /// Gives the output.
    pub fn into_output(self) -> O {
        self.output
    }

    #[cold]
    fn append_failed(&mut self, records: &[u8], failed: Failed) -> WriteError {
        let offset = FileOffset(self.end);
        let written = records.get(..failed.written).unwrap_or(records);
        let framing = Framing {
            endian: Endian::NATIVE,
        };
        self.end += framing.whole_records(written) as u64;
        WriteError {
            part: FilePart::Records,
            offset,
            size: records.len() as u64,
            written: failed.written as u64,
            safe: self.end,
            source: failed.source,
        }
    }
}
