//! The forms of a recording on disk and in pipes: a file, whose features stand behind the records, or a stream, whose
//! features stand before them. The file may stand in a directory with more of them, which have records alone.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::rc::Rc;

use oxperf_data::features::{AuxtraceIndex, BuildIds, Compression, DirFormat, SampleTime};
use oxperf_data::{FeatureSet, FilePart, StreamWriter, WriteError, Writer, WriterEvent};

use super::file::{self, Claim};
use super::stream::StreamOutput;
use crate::error::CaptureError;
use crate::finish::FileRecords;
use crate::interrupts::Interrupts;
use crate::options::{Destination, DirectoryRecords};

/// An output that was begun.
pub(super) enum Container {
    File {
        writer: Writer<File>,
        /// The features that were known at the beginning.
        features: FeatureSet,
        /// Its name.
        claim: Claim,
    },
    Stream(StreamWriter<StreamOutput>),
}

/// Returns whether an output is written from its beginning to its end: standard output, or a named pipe.
pub(crate) fn is_stream(to: &Destination) -> bool {
    match to {
        Destination::StandardOutput => true,
        Destination::File(path) => is_pipe(path),
        Destination::Directory(..) => false,
    }
}

fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

/// Features that are known at the end.
pub(super) struct FinalFeatures {
    pub(super) build_ids: BuildIds,
    pub(super) times: Option<SampleTime>,
    pub(super) compressed: Option<Compression>,
    /// The places of traces, in a recording that has such.
    pub(super) traces: Option<AuxtraceIndex>,
}

impl Container {
    /// Makes the output and writes its beginning.
    ///
    /// # Errors
    /// The output cannot be made or refuses.
    pub(super) fn begin(
        to: &Destination,
        events: &[WriterEvent],
        features: FeatureSet,
        interrupts: Rc<Interrupts>,
    ) -> Result<Container, CaptureError> {
        let unmade = |source| CaptureError::Output {
            to: to.clone(),
            source,
        };
        let container = match to {
            Destination::File(path) if is_pipe(path) => {
                let stream = StreamOutput::named(path, interrupts).map_err(unmade)?;
                StreamWriter::begin(stream, events, &features).map(Container::Stream)
            }
            Destination::File(path) => {
                let (file, claim) = file::create(path).map_err(unmade)?;
                Writer::begin(file, events).map(|writer| Container::File {
                    writer,
                    features,
                    claim,
                })
            }
            Destination::Directory(path, records) => {
                let (data, claim) = file::create_directory(path).map_err(unmade)?;
                let mut features = features;
                if *records == DirectoryRecords::ByRing {
                    features.insert(&DirFormat { version: 1 });
                }
                Writer::begin(data, events).map(|writer| Container::File {
                    writer,
                    features,
                    claim,
                })
            }
            Destination::StandardOutput => {
                let stream = StreamOutput::standard(interrupts).map_err(unmade)?;
                StreamWriter::begin(stream, events, &features).map(Container::Stream)
            }
        };
        container.map_err(|source| CaptureError::Write {
            to: to.clone(),
            source,
        })
    }

    /// Gives a file its name for good: something is recorded.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        match self {
            Container::File { claim, .. } => claim.settle(),
            Container::Stream(_) => Ok(()),
        }
    }

    /// Makes one more file of an output that is a directory.
    ///
    /// # Errors
    /// The kernel's answer, or there is no directory.
    pub(super) fn create_part(&self, index: usize) -> io::Result<File> {
        match self {
            Container::File { claim, .. } => claim.create_part(index),
            Container::Stream(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Copies the kernel's code and lists out of the folder `source` into an output that is a directory.
    ///
    /// # Errors
    /// They cannot be read or written, or there is no directory.
    pub(super) fn copy_kernel(&self, source: &Path) -> io::Result<()> {
        match self {
            Container::File { claim, .. } => claim.copy_kernel(source),
            Container::Stream(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// `true` if what is written can be read back: not from streams and devices.
    pub(super) fn is_file(&self) -> bool {
        match self {
            Container::File { writer, .. } => {
                let found = writer.output().metadata();
                found.is_ok_and(|found| found.is_file())
            }
            Container::Stream(_) => false,
        }
    }

    /// Appends whole records.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub(super) fn append(&mut self, records: &[u8]) -> Result<(), WriteError> {
        match self {
            Container::File { writer, .. } => writer.append(records),
            Container::Stream(writer) => writer.append(records),
        }
    }

    /// Appends a record with the bytes that follow it.
    ///
    /// # Errors
    /// As [`Container::append`].
    pub(super) fn append_whole(&mut self, pieces: &[&[u8]]) -> Result<(), WriteError> {
        match self {
            Container::File { writer, .. } => writer.append_whole(pieces),
            Container::Stream(writer) => {
                let mut pieces = pieces.iter();
                pieces.try_for_each(|piece| writer.append(piece))
            }
        }
    }

    /// Shows readers everything so far; a stream does that by itself.
    ///
    /// # Errors
    /// As [`Container::append`].
    pub(super) fn checkpoint(&mut self) -> Result<(), WriteError> {
        match self {
            Container::File { writer, .. } => writer.checkpoint(),
            Container::Stream(_) => Ok(()),
        }
    }

    /// Adds features, in the place of what was known of them; a stream has had its features.
    pub(super) fn add_features(&mut self, found: &FeatureSet) {
        if let Container::File { features, .. } = self {
            for (id, bytes) in found.iter() {
                features.insert_raw(id, bytes.to_vec());
            }
        }
    }

    /// Bytes written so far.
    pub(super) fn position(&self) -> u64 {
        match self {
            Container::File { writer, .. } => writer.position().0,
            Container::Stream(writer) => writer.position().0,
        }
    }

    /// The file with the bytes of its records, where it can be read back.
    pub(super) fn written_records(&self) -> Option<FileRecords<'_>> {
        match self {
            Container::File { writer, .. } => {
                let end = writer.position().0;
                Some(FileRecords {
                    file: writer.output(),
                    range: end - writer.data_size()..end,
                })
            }
            Container::Stream(_) => None,
        }
    }

    /// The error for records that could not be compressed.
    #[cold]
    pub(super) fn unpacked(&self, size: usize, source: io::Error) -> WriteError {
        let (offset, safe) = match self {
            Container::File { writer, .. } => (writer.position(), writer.data_size()),
            Container::Stream(writer) => (writer.position(), writer.position().0),
        };
        WriteError {
            part: FilePart::Records,
            offset,
            size: size as u64,
            written: 0,
            safe,
            source,
        }
    }

    /// Ends the output. A stream takes the build ids as records, and no other feature.
    ///
    /// # Errors
    /// The output refuses. All records can be read nevertheless.
    pub(super) fn finish(self, known: FinalFeatures) -> Result<(), WriteError> {
        match self {
            Container::Stream(writer) => writer.finish(&known.build_ids.0).map(drop),
            Container::File {
                writer,
                mut features,
                ..
            } => {
                // Samples without time leave zeros, as perf does.
                features.insert(&known.times.unwrap_or_default());
                if !known.build_ids.0.is_empty() {
                    features.insert(&known.build_ids);
                }
                if let Some(compressed) = &known.compressed {
                    features.insert(compressed);
                }
                if let Some(traces) = &known.traces {
                    features.insert(traces);
                }
                writer.finish(&features).map(drop)
            }
        }
    }
}
