//! Writing a recording so that what is on disk can be read at every moment.
//!
//! A recording is written in any of its forms: [`Writer`] makes one file, [`StreamWriter`] a stream, a [`Writer`] and
//! [`PartWriter`]s the files of a [`directory`]; what goes into any of them may be compressed by a [`Packer`].
//!
//! Layout of a file: header, ids of all events, attributes, data, table of the features, features. While data arrive the
//! header names no features, because their table stands behind the data; [`Writer::checkpoint`] moves the end of
//! the data in the header. So a file whose recorder was killed shows everything up to the last checkpoint.

pub mod directory;
mod error;
mod output;
mod pack;
mod stream;

use oxperf_abi::{EventAttr, EventId, FileOffset};
use oxperf_wire::{Encoder, Endian, StoredAttr, attr};

pub use directory::PartWriter;
pub use error::{FilePart, WriteError};
pub use output::Output;
pub use pack::{PackedAs, Packer};
pub use stream::StreamWriter;

use crate::features::{EventDesc, NamedEvent};
use crate::reader::framing::Framing;
use crate::{FeatureSet, FileHeader, Section};
use error::Failed;

/// An event of the recording to be written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriterEvent {
    /// The events that it counts and samples.
    pub attr: EventAttr,
    /// The name to show for it.
    pub name: String,
    /// The kernel's ids, one for each CPU and thread that it was opened on.
    pub ids: Vec<EventId>,
}

/// A recording that is being written, in this machine's byte order.
#[derive(Debug)]
pub struct Writer<O> {
    output: O,
    header: FileHeader,
    events: EventDesc,
    /// End of the whole records in the output.
    end: u64,
}

impl<O: Output> Writer<O> {
    /// Writes everything that stands before the data. The output should be empty.
    ///
    /// # Errors
    /// The output refuses.
    pub fn begin(output: O, events: &[WriterEvent]) -> Result<Writer<O>, WriteError> {
        Writer::begin_described(output, described(events))
    }

    /// As [`Writer::begin`] for events that were recorded before: bytes of their attributes that this program does
    /// not know are written, too. Attributes of several sizes are all written in the largest.
    ///
    /// # Errors
    /// The output refuses.
    pub fn begin_described(output: O, mut events: EventDesc) -> Result<Writer<O>, WriteError> {
        let attr_size = events
            .events
            .iter()
            .map(|event| event.stored.size)
            .max()
            .unwrap_or(attr::SIZE_VER0);
        events
            .events
            .iter_mut()
            .for_each(|event| event.stored.grow(attr_size));
        let header = plan(&events, attr_size);
        let mut writer = Writer {
            output,
            header,
            events,
            end: header.data.offset,
        };
        let front = writer.encode_front();
        writer.write(FilePart::Front, &front, 0)?;
        Ok(writer)
    }

    /// Appends whole records, in one write where the output takes it. They show after the next checkpoint.
    ///
    /// # Errors
    /// The output takes only a part, as a full disk does. Then the header is moved to the end of the last record
    /// that is whole, and [`WriteError::safe`] says how much that is.
    pub fn append(&mut self, records: &[u8]) -> Result<(), WriteError> {
        match self.output.write_all_at(records, self.end) {
            Ok(()) => {
                self.end += records.len() as u64;
                Ok(())
            }
            Err(failed) => Err(self.append_failed(records, failed)),
        }
    }

    /// Appends a record with the bytes that follow it, piece by piece: all of it or nothing, so that no reader takes such
    /// bytes for records.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub fn append_whole(&mut self, pieces: &[&[u8]]) -> Result<(), WriteError> {
        let mut end = self.end;
        for piece in pieces {
            if let Err(error) = self.write(FilePart::Records, piece, end) {
                // The first failure is the one to report.
                let _ = self.checkpoint();
                return Err(error);
            }
            end += piece.len() as u64;
        }
        self.end = end;
        Ok(())
    }

    /// Makes all that was appended visible to readers.
    ///
    /// # Errors
    /// The output refuses.
    pub fn checkpoint(&mut self) -> Result<(), WriteError> {
        let size = self.data_size();
        if size == self.header.data.size {
            return Ok(());
        }
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.u64(size);
        self.write(
            FilePart::Header,
            encoder.as_bytes(),
            FileHeader::DATA_SIZE_OFFSET,
        )?;
        self.header.data.size = size;
        Ok(())
    }

    /// Writes the features and the final header. The description of the events is added from what
    /// [`Writer::begin`] was given, unless none of them has a name.
    ///
    /// # Errors
    /// The output refuses. All records that were appended can be read nevertheless, without features.
    pub fn finish(mut self, features: &FeatureSet) -> Result<O, WriteError> {
        self.checkpoint()?;
        let mut features = features.clone();
        features.describe(&self.events);
        let tail = encode_features(&features, self.end);
        self.write(FilePart::Features, &tail, self.end)?;
        self.header.features = features.bits();
        let mut encoder = Encoder::new(Endian::NATIVE);
        self.header.encode(&mut encoder);
        self.write(FilePart::Header, encoder.as_bytes(), 0)?;
        Ok(self.output)
    }

    /// The output that is written to.
    pub fn output(&self) -> &O {
        &self.output
    }

    /// Bytes of whole records appended so far.
    pub fn data_size(&self) -> u64 {
        self.end - self.header.data.offset
    }

    /// The offset of the next record in the file.
    pub fn position(&self) -> FileOffset {
        FileOffset(self.end)
    }

    fn encode_front(&self) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::NATIVE);
        self.header.encode(&mut encoder);
        for id in self.events.events.iter().flat_map(|event| &event.ids) {
            encoder.u64(id.0);
        }
        let mut ids_offset = FileHeader::SIZE;
        for event in &self.events.events {
            let ids = Section {
                offset: ids_offset,
                size: event.ids.len() as u64 * 8,
            };
            event.stored.encode(&mut encoder);
            ids.encode(&mut encoder);
            ids_offset = ids.end();
        }
        encoder.into_bytes()
    }

    fn write(&mut self, part: FilePart, bytes: &[u8], offset: u64) -> Result<(), WriteError> {
        let written = self.output.write_all_at(bytes, offset);
        written.map_err(|failed| self.error(part, bytes, offset, failed))
    }

    #[cold]
    fn append_failed(&mut self, records: &[u8], failed: Failed) -> WriteError {
        let offset = self.end;
        let written = records.get(..failed.written).unwrap_or(records);
        self.end += Framing {
            endian: Endian::NATIVE,
        }
        .whole_records(written) as u64;
        // The first failure is the one to report; the header then stays at the last checkpoint, which is readable.
        let _ = self.checkpoint();
        self.error(FilePart::Records, records, offset, failed)
    }

    fn error(&self, part: FilePart, bytes: &[u8], offset: u64, failed: Failed) -> WriteError {
        WriteError {
            part,
            offset: FileOffset(offset),
            size: bytes.len() as u64,
            written: failed.written as u64,
            safe: self.header.data.size,
            source: failed.source,
        }
    }
}

/// One size for all attributes, as small as they allow: perf refuses sizes that are newer than its own.
fn common_attr_size(events: &[WriterEvent]) -> u32 {
    events
        .iter()
        .map(|event| attr::smallest_size(&event.attr))
        .max()
        .unwrap_or(attr::SIZE_VER0)
}

/// The events as recordings describe them.
fn described(events: &[WriterEvent]) -> EventDesc {
    let attr_size = common_attr_size(events);
    EventDesc {
        events: events
            .iter()
            .map(|event| describe(event, attr_size))
            .collect(),
    }
}

fn describe(event: &WriterEvent, attr_size: u32) -> NamedEvent {
    let stored = StoredAttr {
        attr: event.attr,
        size: attr_size,
        extra: Vec::new(),
    };
    NamedEvent {
        stored,
        name: event.name.clone(),
        ids: event.ids.clone(),
    }
}

/// The header for no data yet.
fn plan(events: &EventDesc, attr_size: u32) -> FileHeader {
    let ids: u64 = events
        .events
        .iter()
        .map(|event| event.ids.len() as u64 * 8)
        .sum();
    let attr_size = u64::from(attr_size) + Section::STORED;
    let attrs = Section {
        offset: FileHeader::SIZE + ids,
        size: attr_size * events.events.len() as u64,
    };
    let data = Section {
        offset: attrs.end(),
        size: 0,
    };
    FileHeader {
        size: FileHeader::SIZE,
        attr_size,
        attrs,
        data,
        ..FileHeader::default()
    }
}

/// The table and the bodies of the features, to stand at `start`.
fn encode_features(features: &FeatureSet, start: u64) -> Vec<u8> {
    let mut table = Encoder::new(Endian::NATIVE);
    let mut offset = start + Section::STORED * features.iter().count() as u64;
    for (_, body) in features.iter() {
        Section {
            offset,
            size: body.len() as u64,
        }
        .encode(&mut table);
        offset += body.len() as u64;
    }
    features.iter().for_each(|(_, body)| table.bytes(body));
    table.into_bytes()
}

#[cfg(test)]
mod tests;
