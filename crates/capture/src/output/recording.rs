//! The recording while it is written: its records are counted, compressed where that is wanted, and put into a container.

use std::rc::Rc;

use oxperf_data::features::{BuildIds, SampleTime};
use oxperf_data::{FeatureSet, WriteError, WriterEvent};

use super::RecordOutput;
use super::compression::{Compressor, Volume};
use super::container::{Container, FinalFeatures};
use crate::error::CaptureError;
use crate::finish::{FileRecords, Scan, Tally};
use crate::interrupts::Interrupts;
use crate::options::{BuildIdPolicy, Destination, OutputOptions};

/// A recording that is being written.
pub(crate) struct Recording {
    to: Destination,
    container: Container,
    compression: Option<Compressor>,
    tally: Tally,
    /// `true` if the finished file is read, which also finds the binaries that were hit; else records are counted as they
    /// go by.
    is_read_back: bool,
    interrupts: Rc<Interrupts>,
}

impl Recording {
    /// Begins a recording of these events. Streams carry the features at once, files at their end.
    ///
    /// # Errors
    /// The output cannot be made or refuses.
    pub(crate) fn begin(
        options: &OutputOptions,
        events: &[WriterEvent],
        mut features: FeatureSet,
        interrupts: Rc<Interrupts>,
    ) -> Result<Recording, CaptureError> {
        let to = options.destination.clone();
        let unmade = |source| CaptureError::Output {
            to: to.clone(),
            source,
        };
        let compression = options.compression.map(Compressor::new);
        let compression = compression.transpose().map_err(unmade)?;
        let is_stream = to == Destination::StandardOutput;
        if let Some(compression) = &compression
            && is_stream
        {
            features.insert(&compression.feature());
        }
        let container = Container::begin(&to, events, features, Rc::clone(&interrupts))?;
        let tally = Tally::new(events.iter().map(|event| (&event.attr, &event.ids[..])));
        // Reading back a file of a series takes time in which rings fill.
        let is_wanted = options.rotation.is_none() || options.build_ids != BuildIdPolicy::Off;
        let is_read_back = compression.is_none() && container.is_file() && is_wanted;
        Ok(Recording {
            to,
            container,
            compression,
            tally,
            is_read_back,
            interrupts,
        })
    }

    /// Gives the output its name for good, and what was there before the name `NAME.old`: something is recorded.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn settle(&mut self) -> Result<(), CaptureError> {
        let settled = self.container.settle();
        settled.map_err(|source| CaptureError::Output {
            to: self.to.clone(),
            source,
        })
    }

    /// Takes whole records that were made here.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub(crate) fn append(&mut self, records: &[u8]) -> Result<(), CaptureError> {
        let taken = self
            .write(records)
            .and_then(|()| self.container.checkpoint());
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
        self.container.position()
    }

    /// Sizes before and after compression, if anything was to be compressed.
    pub(crate) fn volume(&self) -> Option<Volume> {
        self.compression.as_ref().map(Compressor::volume)
    }

    /// The findings in all records. A second signal cuts the search for binaries that were hit short.
    ///
    /// # Errors
    /// The file cannot be read back.
    pub(crate) fn look_over(&mut self, build_ids: BuildIdPolicy) -> Result<Scan, CaptureError> {
        let tally = std::mem::take(&mut self.tally);
        let written = self.container.written_records();
        let Some((file, range)) = written.filter(|_| self.is_read_back) else {
            return Ok(tally.finish());
        };
        let records = FileRecords { file, range };
        let hurry = || {
            self.interrupts.take();
            self.interrupts.is_repeated()
        };
        let scanned = tally.scan(&records, build_ids == BuildIdPolicy::Hit, &hurry);
        scanned.map_err(|error| CaptureError::ReadBack {
            from: self.to.clone(),
            reason: error.to_string(),
        })
    }

    /// Ends the recording with the features that were not known before.
    ///
    /// # Errors
    /// The output refuses. All records can be read nevertheless.
    pub(crate) fn finish(
        self,
        build_ids: BuildIds,
        times: Option<SampleTime>,
    ) -> Result<(), CaptureError> {
        let known = FinalFeatures {
            build_ids,
            times,
            compressed: self.compression.as_ref().map(Compressor::feature),
        };
        let to = self.to;
        self.container
            .finish(known)
            .map_err(|source| CaptureError::Write { to, source })
    }

    /// Writes records as they are.
    fn write(&mut self, records: &[u8]) -> Result<(), WriteError> {
        if !self.is_read_back {
            self.tally.take(records);
        }
        self.container.append(records)
    }
}

impl RecordOutput for Recording {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let Some(compression) = &mut self.compression else {
            return self.write(records);
        };
        // Compressed records are never read back.
        self.tally.take(records);
        match compression.pack(records) {
            Ok(packed) => self.container.append(packed),
            Err(source) => Err(self.container.unpacked(records, source)),
        }
    }

    fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
        if let Some(mark) = mark {
            self.container.append(mark)?;
        }
        self.container.checkpoint()
    }
}
