//! The recording while it is written: a file or a stream, its records compressed or as they are.

use std::fs::File;
use std::io;
use std::rc::Rc;

use oxperf_data::features::{BuildIds as BuildIdTable, SampleTime};
use oxperf_data::{
    FeatureSet, FilePart, PackedAs, Packer, StreamWriter, WriteError, Writer, WriterEvent,
};
use oxperf_wire::{Encoder, Endian};

use crate::error::CaptureError;
use crate::finish::{FileRecords, Scan, Tally};
use crate::interrupts::Interrupts;
use crate::options::{BuildIds, Destination};
use crate::output;
use crate::stream_output::StreamOutput;

/// What takes the records of a recording.
pub trait Records {
    /// Takes whole records as the kernel wrote them.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError>;

    /// Takes the mark that ends a round, and shows readers everything so far.
    ///
    /// # Errors
    /// As [`Records::kernel_records`].
    fn end_round(&mut self, mark: &[u8]) -> Result<(), WriteError>;
}

/// A recording that is being written.
pub(crate) struct Recording {
    to: Destination,
    form: Form,
    compression: Option<Compression>,
    tally: Tally,
    /// The finished file is read, which also tells the binaries that were hit; else what goes by is counted.
    is_read_back: bool,
    interrupts: Rc<Interrupts>,
}

enum Form {
    /// The features stand behind the records.
    File {
        writer: Writer<File>,
        features: FeatureSet,
    },
    Stream(StreamWriter<StreamOutput>),
}

struct Compression {
    packer: Packer,
    /// Memory for what is packed at once.
    packed: Encoder,
    volume: Volume,
}

/// What compressing came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Volume {
    /// Bytes of the records that were compressed.
    pub plain: u64,
    /// Bytes of what they became.
    pub packed: u64,
}

impl Recording {
    /// Begins a recording of these events. Streams tell the features at once, files at their end.
    ///
    /// # Errors
    /// The output cannot be made or refuses.
    pub(crate) fn begin(
        to: &Destination,
        events: &[WriterEvent],
        mut features: FeatureSet,
        level: Option<u32>,
        interrupts: Rc<Interrupts>,
    ) -> Result<Recording, CaptureError> {
        let unmade = |source| CaptureError::Output {
            to: to.clone(),
            source,
        };
        let compression = level.map(Compression::new).transpose().map_err(unmade)?;
        let is_read_back = compression.is_none() && *to != Destination::StandardOutput;
        let form = match to {
            Destination::File(path) => {
                let file = output::create(path).map_err(unmade)?;
                Writer::begin(file, events).map(|writer| Form::File { writer, features })
            }
            Destination::StandardOutput => {
                if let Some(compression) = &compression {
                    features.insert(&compression.packer.feature());
                }
                let stream = StreamOutput::standard(Rc::clone(&interrupts)).map_err(unmade)?;
                StreamWriter::begin(stream, events, &features).map(Form::Stream)
            }
        };
        let form = form.map_err(|source| CaptureError::Write {
            to: to.clone(),
            source,
        })?;
        let tally = Tally::new(events.iter().map(|event| (&event.attr, &event.ids[..])));
        Ok(Recording {
            to: to.clone(),
            form,
            compression,
            tally,
            is_read_back,
            interrupts,
        })
    }

    /// Takes whole records that were made here.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub(crate) fn append(&mut self, records: &[u8]) -> Result<(), CaptureError> {
        let taken = self.write(records).and_then(|()| self.form.checkpoint());
        taken.map_err(|source| self.unwritten(source))
    }

    /// The error for a write that the output refused.
    pub(crate) fn unwritten(&self, source: WriteError) -> CaptureError {
        CaptureError::Write {
            to: self.to.clone(),
            source,
        }
    }

    /// Bytes written so far.
    pub(crate) fn position(&self) -> u64 {
        match &self.form {
            Form::File { writer, .. } => writer.position().0,
            Form::Stream(writer) => writer.position().0,
        }
    }

    /// What compressing came to, if anything was to be compressed.
    pub(crate) fn volume(&self) -> Option<Volume> {
        self.compression
            .as_ref()
            .map(|compression| compression.volume)
    }

    /// What all the records tell. A second signal cuts the search for binaries that were hit short.
    ///
    /// # Errors
    /// The file cannot be read back.
    pub(crate) fn look_over(&mut self, build_ids: BuildIds) -> Result<Scan, CaptureError> {
        let tally = std::mem::take(&mut self.tally);
        let Form::File { writer, .. } = &self.form else {
            return Ok(tally.finish());
        };
        if !self.is_read_back {
            return Ok(tally.finish());
        }
        let end = writer.position().0;
        let records = FileRecords {
            file: writer.output(),
            range: end - writer.data_size()..end,
        };
        let hurry = || {
            self.interrupts.take();
            self.interrupts.is_repeated()
        };
        let scanned = tally.scan(&records, build_ids == BuildIds::Hit, &hurry);
        scanned.map_err(|error| CaptureError::ReadBack {
            from: self.to.clone(),
            reason: error.to_string(),
        })
    }

    /// Ends the recording with what was not known before.
    ///
    /// # Errors
    /// The output refuses. All records can be read nevertheless.
    pub(crate) fn finish(
        self,
        build_ids: BuildIdTable,
        times: Option<SampleTime>,
    ) -> Result<(), CaptureError> {
        let Recording {
            to,
            form,
            compression,
            ..
        } = self;
        let finished = match form {
            Form::Stream(writer) => writer.finish(&build_ids.0).map(drop),
            Form::File {
                writer,
                mut features,
            } => {
                // Samples without time leave zeros, as perf does.
                features.insert(&times.unwrap_or_default());
                if !build_ids.0.is_empty() {
                    features.insert(&build_ids);
                }
                if let Some(compression) = &compression {
                    features.insert(&compression.packer.feature());
                }
                writer.finish(&features).map(drop)
            }
        };
        finished.map_err(|source| CaptureError::Write { to, source })
    }

    /// Writes records as they are.
    fn write(&mut self, records: &[u8]) -> Result<(), WriteError> {
        if !self.is_read_back {
            self.tally.take(records);
        }
        self.form.append(records)
    }
}

impl Records for Recording {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let Some(compression) = &mut self.compression else {
            return self.write(records);
        };
        // What is compressed is never read back.
        self.tally.take(records);
        match compression.pack(records) {
            Ok(packed) => self.form.append(packed),
            Err(source) => Err(self.form.unpacked(records, source)),
        }
    }

    fn end_round(&mut self, mark: &[u8]) -> Result<(), WriteError> {
        self.form.append(mark)?;
        self.form.checkpoint()
    }
}

impl Form {
    fn append(&mut self, records: &[u8]) -> Result<(), WriteError> {
        match self {
            Form::File { writer, .. } => writer.append(records),
            Form::Stream(writer) => writer.append(records),
        }
    }

    /// Shows readers everything so far; a stream does that by itself.
    fn checkpoint(&mut self) -> Result<(), WriteError> {
        match self {
            Form::File { writer, .. } => writer.checkpoint(),
            Form::Stream(_) => Ok(()),
        }
    }

    /// The error for records that could not be compressed.
    #[cold]
    fn unpacked(&self, records: &[u8], source: io::Error) -> WriteError {
        let (offset, safe) = match self {
            Form::File { writer, .. } => (writer.position(), writer.data_size()),
            Form::Stream(writer) => (writer.position(), writer.position().0),
        };
        WriteError {
            part: FilePart::Records,
            offset,
            size: records.len() as u64,
            written: 0,
            safe,
            source,
        }
    }
}

impl Compression {
    fn new(level: u32) -> io::Result<Compression> {
        // Records of any size, which every perf that knows compression reads.
        let packer = Packer::new(level, PackedAs::Exact)?;
        Ok(Compression {
            packer,
            packed: Encoder::new(Endian::NATIVE),
            volume: Volume::default(),
        })
    }

    fn pack(&mut self, records: &[u8]) -> io::Result<&[u8]> {
        self.packed.clear();
        self.packer.pack(records, &mut self.packed)?;
        self.volume.plain += records.len() as u64;
        self.volume.packed += self.packed.len() as u64;
        Ok(self.packed.as_bytes())
    }
}
