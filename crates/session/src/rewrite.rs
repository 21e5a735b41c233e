//! A recording of any form as one plain file in this machine's byte order.

mod features;
mod placed;

use oxperf_abi::RecordType;
use oxperf_data::features::{AuxtraceEntry, BuildIdEntry};
use oxperf_data::{
    Container, Damage, DataError, Framed, Output, RawRecord, Reader, Source, WriteError, Writer,
};
use oxperf_wire::{Endian, RecordHeader};

use crate::EventTable;
use placed::Placed;

/// What became of a recording that was rewritten.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rewritten {
    /// Records in the new file.
    pub records: u64,
    /// Samples among them.
    pub samples: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Stretches of the recording that could not be read.
    pub damage: Vec<Damage>,
}

/// Why a recording was not rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The records cannot be had.
    #[error(transparent)]
    Read(#[from] DataError),
    /// The output refuses.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The recorder's byte order is another.
    #[error("the recording is of a machine of the other byte order")]
    Foreign,
}

/// Writes the recording to `output`: compressed records as what they hold, the files of a directory one after
/// another, what a stream says about itself as header and features, AUX data with a new index.
///
/// # Errors
/// The records cannot be had, or the output refuses. Broken stretches are no error: see [`Rewritten::damage`].
pub fn rewrite<O: Output>(reader: &Reader<'_>, output: O) -> Result<Rewritten, RewriteError> {
    if reader.endian() != Endian::NATIVE {
        return Err(RewriteError::Foreign);
    }
    let source = reader.source()?;
    let events = EventTable::new(reader);
    let writer = Writer::begin_described(output, features::described(reader, &events))?;
    let mut rewriter = Rewriter {
        placed: Placed::new(writer),
        container: reader.container(),
        build_ids: Vec::new(),
        done: Rewritten { damage: reader.damage().to_vec(), ..Rewritten::default() },
    };
    match source {
        Source::Borrowed(parts) => parts.into_iter().try_for_each(|records| rewriter.take_all(records))?,
        Source::Held(records) => rewriter.take_all(records)?,
    }
    let Rewriter { placed, build_ids, done, .. } = rewriter;
    let (writer, auxtrace) = placed.finish()?;
    writer.finish(&features::rewritten(reader, &Gathered { auxtrace, build_ids }))?;
    Ok(done)
}

/// What the records tell that stands in features of a file.
#[derive(Debug)]
struct Gathered {
    /// The places of the AUX data in the new file.
    auxtrace: Vec<AuxtraceEntry>,
    /// What a stream tells about binaries.
    build_ids: Vec<BuildIdEntry>,
}

/// A rewriting at work.
#[derive(Debug)]
struct Rewriter<O> {
    placed: Placed<O>,
    container: Container,
    build_ids: Vec<BuildIdEntry>,
    done: Rewritten,
}

impl<O: Output> Rewriter<O> {
    fn take_all<B: AsRef<[u8]>>(
        &mut self,
        records: impl Iterator<Item = Result<Framed<B>, Damage>>,
    ) -> Result<(), WriteError> {
        for record in records {
            match record {
                Ok(record) => self.take(&record.as_raw())?,
                Err(damage) => self.done.damage.push(damage),
            }
        }
        Ok(())
    }

    fn take(&mut self, record: &RawRecord<'_>) -> Result<(), WriteError> {
        let kind = record.header.kind;
        if self.is_of_the_form(kind) {
            return Ok(());
        }
        if self.container == Container::Stream && kind == RecordType::HEADER_BUILD_ID {
            self.build_ids.extend(features::build_id(record));
            return Ok(());
        }
        self.done.records += 1;
        self.done.samples += u64::from(kind == RecordType::SAMPLE);
        self.done.bytes += (RecordHeader::SIZE + record.body.len() + record.payload.len()) as u64;
        self.placed.append(record)
    }

    /// Whether records of this kind belong to the form that the recording had and say nothing in a plain file.
    fn is_of_the_form(&self, kind: RecordType) -> bool {
        match kind {
            RecordType::COMPRESSED | RecordType::COMPRESSED2 => true,
            RecordType::HEADER_ATTR | RecordType::HEADER_FEATURE | RecordType::HEADER_TRACING_DATA => {
                self.container == Container::Stream
            }
            // The files of a directory are read one after another: a round of one says nothing about the others.
            RecordType::FINISHED_ROUND => self.container == Container::Directory,
            _ => false,
        }
    }
}
