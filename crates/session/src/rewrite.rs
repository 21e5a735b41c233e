//! A recording of any form as one plain file in this machine's byte order.

mod bodies;
mod features;
mod placed;
mod tracing;

use oxperf_abi::{FileOffset, Misc, RecordType};
use oxperf_data::features::{AuxtraceEntry, BuildIdEntry, NrCpus};
use oxperf_data::{
    Container, Damage, DamageList, DataError, FeatureId, Framed, Output, RawRecord, Reader,
    RecordSource, WriteError, Writer,
};
use oxperf_wire::{Cursor, Endian, RecordHeader, simpleperf};

use crate::EventTable;
use bodies::{Bodies, Outcome};
use placed::Placed;

/// Counts of a recording that was rewritten.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rewritten {
    /// Records in the new file.
    pub records: u64,
    /// Samples among them.
    pub samples: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Records that were left out because they do not hold what their kind needs.
    pub undecodable: u64,
    /// Records that were left out because perf does not know their kind.
    pub unknown_records: u64,
    /// Features that were left out: broken, empty, or structures of a kernel of the other byte order.
    pub features_left_out: Vec<FeatureId>,
    /// Samples whose raw data stayed in the other byte order, because nothing says what they hold.
    pub raw_unmapped: u64,
    /// Number of CPUs that the new file claims: one more than the highest that a record names, where the recording does
    /// not say; perf warns otherwise.
    pub assumed_cpus: Option<u32>,
    /// Attributes with settings that are newer than this program, which perf refuses; they were left out.
    pub attributes_cut: u64,
    /// Stretches of the recording that could not be read.
    pub damage: DamageList,
}

/// The reason why a recording was not rewritten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The records cannot be had.
    #[error(transparent)]
    Read(#[from] DataError),
    /// The output refuses.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Writes the recording to `output`: compressed records as what they hold, the files of a directory one after
/// another, what a stream says about itself as header and features, AUX data with a new index, everything in this
/// machine's byte order. Records that are in it already are copied byte for byte.
///
/// # Errors
/// The records cannot be had, or the output refuses. What is broken is no error but counted: see [`Rewritten`].
pub fn rewrite<O: Output>(reader: &Reader<'_>, output: O) -> Result<Rewritten, RewriteError> {
    let source = reader.source()?;
    let events = EventTable::new(reader);
    let writer = Writer::begin_described(output, features::described(reader, &events))?;
    let mut rewriter = Rewriter {
        placed: Placed::new(writer),
        container: reader.container(),
        endian: reader.endian(),
        bodies: Bodies::new(reader, events),
        build_ids: Vec::new(),
        counts: false,
        tracing: None,
        done: Rewritten {
            damage: reader.damage().clone(),
            ..Rewritten::default()
        },
    };
    match source {
        RecordSource::Borrowed(parts) => parts
            .into_iter()
            .try_for_each(|records| rewriter.take_all(records))?,
        RecordSource::Buffered(records) => rewriter.take_all(records)?,
    }
    Ok(rewriter.finish(reader)?)
}

/// A record that says nothing.
const EMPTY_ROUND: RawRecord<'static> = RawRecord {
    offset: FileOffset(0),
    header: RecordHeader {
        kind: RecordType::FINISHED_ROUND,
        misc: Misc(0),
        size: 8,
    },
    body: &[],
    payload: &[],
};

/// Facts from records that stand in features of a file.
#[derive(Debug)]
struct Gathered {
    /// The places of the AUX data in the new file.
    auxtrace: Vec<AuxtraceEntry>,
    /// Build ids, as a stream records them.
    build_ids: Vec<BuildIdEntry>,
    /// CPUs, where the recording does not say.
    cpus: Option<u32>,
    /// `perf stat record` made it.
    counts: bool,
    /// Formats of tracepoints that simpleperf wrote as a record.
    tracing: Option<Vec<u8>>,
}

/// A rewriting at work.
#[derive(Debug)]
struct Rewriter<O> {
    placed: Placed<O>,
    container: Container,
    endian: Endian,
    bodies: Bodies,
    build_ids: Vec<BuildIdEntry>,
    counts: bool,
    tracing: Option<Vec<u8>>,
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
                Err(damage) => self.done.damage.add(damage),
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
            self.build_ids
                .extend(features::build_id(record, self.endian));
            return Ok(());
        }
        if kind == RecordType::SIMPLEPERF_TRACING_DATA {
            let data = simpleperf::SimpleperfTracingData::decode(&mut Cursor::new(
                record.body,
                self.endian,
            ));
            self.tracing = data.ok().map(|found| found.data.to_vec());
            return Ok(());
        }
        self.counts |= kind == RecordType::STAT_CONFIG;
        match self.bodies.take(record) {
            Outcome::Readable(body) => {
                let size = RecordHeader::SIZE + body.len();
                self.done.records += 1;
                self.done.samples += u64::from(kind == RecordType::SAMPLE);
                self.done.bytes += (size + record.payload.len()) as u64;
                self.placed.append(&RawRecord { body, ..*record })?;
            }
            Outcome::Undecodable => self.done.undecodable += 1,
            Outcome::Unknown => self.done.unknown_records += 1,
        }
        Ok(())
    }

    /// `true` if records of this kind belong to the form that the recording had and say nothing in a plain file.
    fn is_of_the_form(&self, kind: RecordType) -> bool {
        match kind {
            RecordType::COMPRESSED | RecordType::COMPRESSED2 | RecordType::HEADER_EVENT_TYPE => {
                true
            }
            RecordType::HEADER_ATTR
            | RecordType::HEADER_FEATURE
            | RecordType::HEADER_TRACING_DATA => self.container == Container::Stream,
            // The files of a directory are read one after another: a round of one says nothing about the others.
            RecordType::FINISHED_ROUND => self.container == Container::Directory,
            _ => false,
        }
    }

    /// Writes the features.
    fn finish(self, reader: &Reader<'_>) -> Result<Rewritten, WriteError> {
        let Rewriter {
            mut placed,
            bodies,
            build_ids,
            counts,
            tracing,
            mut done,
            ..
        } = self;
        if done.records == 0 {
            // perf takes a file without any record for one whose recorder was killed.
            placed.append(&EMPTY_ROUND)?;
        }
        let (writer, auxtrace) = placed.finish()?;
        let says_cpus = matches!(reader.features().get::<NrCpus>(), Ok(Some(_)));
        let cpus = (!says_cpus).then_some(bodies.cpus.max(1));
        let (features, left_out) = features::rewritten(
            reader,
            &Gathered {
                auxtrace,
                build_ids,
                cpus,
                counts,
                tracing,
            },
        );
        writer.finish(&features)?;
        done.features_left_out = left_out;
        done.raw_unmapped = bodies.raw_unmapped;
        done.assumed_cpus = cpus;
        done.attributes_cut = features::cut_attributes(reader);
        Ok(done)
    }
}
