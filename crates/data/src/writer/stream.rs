//! Writing a recording as a stream: what a file has in its header comes as records, so that nothing is written twice
//! and a pipe will do.

use std::io::{self, ErrorKind, Write};

use oxperf_abi::{FileOffset, Misc, RecordType};
use oxperf_wire::user::{BuildIdRecord, HeaderFeature, HeaderTracingData};
use oxperf_wire::{Encoder, Endian, RecordHeader};

use super::error::Failed;
use super::{FilePart, WriteError, WriterEvent, described};
use crate::features::{BuildIdEntry, EventDesc, NamedEvent, TracingDataSection};
use crate::{Feature, FeatureId, FeatureSet, FileHeader};

/// A stream that is being written, in this machine's byte order.
#[derive(Debug)]
pub struct StreamWriter<W> {
    output: W,
    position: u64,
    /// Bytes of records that were taken whole.
    safe: u64,
    left_out: Vec<FeatureId>,
}

/// Features that have no bytes, which would mark the end of all, and those that cannot be known before the records;
/// build ids come at the end.
const NOT_IN_STREAMS: [FeatureId; 5] = [
    FeatureId::BRANCH_STACK,
    FeatureId::STAT,
    FeatureId::BUILD_ID,
    FeatureId::AUXTRACE,
    FeatureId::DIR_FORMAT,
];

impl<W: Write> StreamWriter<W> {
    /// Writes what readers must know before the first record. The description of the events is added to the features
    /// unless none of them has a name.
    ///
    /// # Errors
    /// The output refuses.
    pub fn begin(
        output: W,
        events: &[WriterEvent],
        features: &FeatureSet,
    ) -> Result<StreamWriter<W>, WriteError> {
        StreamWriter::begin_described(output, &described(events), features)
    }

    /// As [`StreamWriter::begin`] for events that were recorded before. Ids of an event that do not fit into a record are left out, as are features:
    /// see [`StreamWriter::left_out`].
    ///
    /// # Errors
    /// The output refuses.
    pub fn begin_described(
        output: W,
        events: &EventDesc,
        features: &FeatureSet,
    ) -> Result<StreamWriter<W>, WriteError> {
        let mut front = Encoder::new(Endian::NATIVE);
        FileHeader {
            size: FileHeader::SIZE_OF_STREAM,
            ..FileHeader::default()
        }
        .encode(&mut front);
        events
            .events
            .iter()
            .for_each(|event| encode_event(event, &mut front));
        let mut features = features.clone();
        features.describe(events);
        let mut left_out = Vec::new();
        for (id, bytes) in features
            .iter()
            .filter(|(id, _)| !NOT_IN_STREAMS.contains(id))
        {
            match fits(id, bytes) {
                true => encode_feature(id, bytes, &mut front),
                false => left_out.push(id),
            }
        }
        let mut writer = StreamWriter {
            output,
            position: 0,
            safe: 0,
            left_out,
        };
        writer.write(FilePart::Front, front.as_bytes())?;
        Ok(writer)
    }

    /// Appends whole records.
    ///
    /// # Errors
    /// The output refuses, as a pipe does that nobody reads any more.
    pub fn append(&mut self, records: &[u8]) -> Result<(), WriteError> {
        self.write(FilePart::Records, records)?;
        self.safe += records.len() as u64;
        Ok(())
    }

    /// Says which binaries the records are about, and ends the stream.
    ///
    /// # Errors
    /// The output refuses.
    pub fn finish(mut self, build_ids: &[BuildIdEntry]) -> Result<W, WriteError> {
        let mut records = Encoder::new(Endian::NATIVE);
        build_ids
            .iter()
            .for_each(|entry| encode_build_id(entry, &mut records));
        self.append(records.as_bytes())?;
        match self.output.flush() {
            Ok(()) => Ok(self.output),
            Err(source) => Err(self.error(FilePart::Records, 0, Failed { written: 0, source })),
        }
    }

    /// Features that are too large for a record.
    pub fn left_out(&self) -> &[FeatureId] {
        &self.left_out
    }

    /// The offset of the next record in the stream.
    pub fn position(&self) -> FileOffset {
        FileOffset(self.position)
    }

    fn write(&mut self, part: FilePart, bytes: &[u8]) -> Result<(), WriteError> {
        match write_all(&mut self.output, bytes) {
            Ok(()) => {
                self.position += bytes.len() as u64;
                Ok(())
            }
            Err(failed) => Err(self.error(part, bytes.len(), failed)),
        }
    }

    fn error(&self, part: FilePart, size: usize, failed: Failed) -> WriteError {
        WriteError {
            part,
            offset: FileOffset(self.position),
            size: size as u64,
            written: failed.written as u64,
            safe: self.safe,
            source: failed.source,
        }
    }
}

/// Writes everything, and says how much it was when it ends early.
fn write_all(output: &mut impl Write, bytes: &[u8]) -> Result<(), Failed> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match output.write(rest) {
            Ok(0) => {
                return Err(Failed {
                    written,
                    source: ErrorKind::WriteZero.into(),
                });
            }
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(Failed { written, source }),
        }
    }
    Ok(())
}

fn encode_event(event: &NamedEvent, out: &mut Encoder) {
    out.record(RecordType::HEADER_ATTR, Misc(0), |body| {
        event.stored.encode(body);
        event.ids.iter().for_each(|id| body.u64(id.0));
    });
}

/// Returns whether a feature's bytes and its number fit into a record, or it is the one that stands behind its record.
fn fits(id: FeatureId, bytes: &[u8]) -> bool {
    id == TracingDataSection::ID || bytes.len() <= RecordHeader::MAX_SIZE - RecordHeader::SIZE - 8
}

/// Tracing data do not fit into a record and follow theirs.
fn encode_feature(id: FeatureId, bytes: &[u8], out: &mut Encoder) {
    if id == TracingDataSection::ID {
        let padded = bytes.len().next_multiple_of(8);
        let size = HeaderTracingData {
            size: padded as u32,
        };
        out.record(RecordType::HEADER_TRACING_DATA, Misc(0), |body| {
            size.encode(body)
        });
        out.bytes(bytes);
        out.bytes(&vec![0; padded - bytes.len()]);
        return;
    }
    let feature = HeaderFeature {
        feature: u64::from(id.0),
        bytes,
    };
    out.record(RecordType::HEADER_FEATURE, Misc(0), |body| {
        feature.encode(body)
    });
}

fn encode_build_id(entry: &BuildIdEntry, out: &mut Encoder) {
    let misc = Misc(entry.misc.0 | Misc::BUILD_ID_SIZE);
    let record = BuildIdRecord {
        pid: entry.pid,
        build_id: Some(entry.build_id),
        filename: entry.name.as_bytes(),
    };
    out.record(RecordType::HEADER_BUILD_ID, misc, |body| {
        record.encode(body)
    });
}
