//! Writing a recording as the files of a directory: one with the header, and one for the records of each writer.

use oxperf_abi::FileOffset;

use super::{FilePart, Output, WriteError, Writer};
use crate::FeatureSet;
use crate::features::{DirFormat, EventDesc};

/// A directory that is being written, in this machine's byte order. The caller makes the files: the one with the
/// header is called `data`, the others by [`DirectoryWriter::part_name`].
#[derive(Debug)]
pub struct DirectoryWriter<O> {
    data: Writer<O>,
    parts: Vec<PartWriter<O>>,
}

/// A file of records without a header.
#[derive(Debug)]
struct PartWriter<O> {
    output: O,
    end: u64,
}

impl<O: Output> DirectoryWriter<O> {
    /// The name of the file with the header.
    pub const DATA_NAME: &'static str = "data";

    /// The name of a file of records.
    pub fn part_name(index: usize) -> String {
        format!("data.{index}")
    }

    /// Writes everything that stands before the data of the file with the header.
    ///
    /// # Errors
    /// The output refuses.
    pub fn begin(
        data: O,
        parts: Vec<O>,
        events: EventDesc,
    ) -> Result<DirectoryWriter<O>, WriteError> {
        let parts = parts
            .into_iter()
            .map(|output| PartWriter { output, end: 0 })
            .collect();
        Ok(DirectoryWriter {
            data: Writer::begin_described(data, events)?,
            parts,
        })
    }

    /// The file with the header, for the records of the recorder itself.
    pub fn data(&mut self) -> &mut Writer<O> {
        &mut self.data
    }

    /// Appends whole records to a file of records; `false` when there is none of that number.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub fn append(&mut self, part: usize, records: &[u8]) -> Result<bool, WriteError> {
        let Some(part) = self.parts.get_mut(part) else {
            return Ok(false);
        };
        part.append(records)?;
        Ok(true)
    }

    /// Writes the features and the final header; gives the file with the header, then the others.
    ///
    /// # Errors
    /// The output refuses.
    pub fn finish(self, features: &FeatureSet) -> Result<(O, Vec<O>), WriteError> {
        let mut features = features.clone();
        features.insert(&DirFormat { version: 1 });
        let data = self.data.finish(&features)?;
        Ok((
            data,
            self.parts.into_iter().map(|part| part.output).collect(),
        ))
    }
}

impl<O: Output> PartWriter<O> {
    fn append(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let offset = self.end;
        match self.output.write_all_at(records, offset) {
            Ok(()) => {
                self.end += records.len() as u64;
                Ok(())
            }
            Err(failed) => Err(WriteError {
                part: FilePart::Records,
                offset: FileOffset(offset),
                size: records.len() as u64,
                written: failed.written as u64,
                safe: offset,
                source: failed.source,
            }),
        }
    }
}
