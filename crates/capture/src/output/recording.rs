//! The recording while it is written: its records are counted, compressed where that is wanted, and put into a container.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use oxperf_abi::FileOffset;
use oxperf_data::features::{AuxtraceEntry, AuxtraceIndex, BuildIds, Compression, SampleTime};
use oxperf_data::{FeatureSet, WriteError, WriterEvent};
use oxperf_sys::Waker;

use super::RecordOutput;
use super::compression::{Compressor, Volume};
use super::container::{self, Container, FinalFeatures};
use super::packing::{Packed, Packing, Worked};
use super::part::RecordingPart;
use crate::drain::TracePiece;
use crate::error::CaptureError;
use crate::finish::{FileRecords, Scan, Tally};
use crate::interrupts::Interrupts;
use crate::options::{BuildIdPolicy, Destination, DirectoryRecords, OutputOptions};

/// A recording that is being written.
pub(crate) struct Recording {
    to: Destination,
    container: Container,
    /// The thread that compresses, as long as records come.
    packing: Option<Packing>,
    /// What compressed them, when all have come.
    compressor: Option<Compressor>,
    /// The files of an output that is a directory, as those who wrote them gave them back.
    parts: Vec<RecordingPart>,
    /// Bytes that they have by now.
    bytes_of_parts: Arc<AtomicU64>,
    tally: Tally,
    /// The places of the traces in a recording that has such.
    traces: Option<AuxtraceIndex>,
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
        let compression = match to {
            // What is compressed goes to the other files.
            Destination::Directory(_, DirectoryRecords::ByRing) => None,
            Destination::Directory(_, DirectoryRecords::InOneFile)
            | Destination::File(_)
            | Destination::StandardOutput => options.compression,
        };
        let compressor = compression.map(Compressor::new).transpose();
        let compressor = compressor.map_err(unmade)?;
        let is_stream = container::is_stream(&to);
        if let Some(compressor) = &compressor
            && is_stream
        {
            features.insert(&compressor.feature());
        }
        let container = Container::begin(&to, events, features, Rc::clone(&interrupts))?;
        let tally = tally_of(events);
        let packing = compressor.map(|compressor| {
            let worked = Worked {
                compressor,
                tally: tally_of(events),
            };
            Packing::start(worked, Waker::default())
        });
        let packing = packing.transpose().map_err(unmade)?;
        // Reading back a file of a series takes time in which rings fill.
        let is_wanted = options.rotation.is_none() || options.build_ids != BuildIdPolicy::Off;
        // Nobody knows what a trace hit before it is decoded, and it is long.
        let is_wanted = is_wanted && !options.has_traces;
        let is_read_back = options.compression.is_none() && container.is_file() && is_wanted;
        Ok(Recording {
            to,
            container,
            packing,
            compressor: None,
            parts: Vec::new(),
            bytes_of_parts: Arc::default(),
            tally,
            traces: options.has_traces.then(AuxtraceIndex::default),
            is_read_back,
            interrupts,
        })
    }

    /// Copies the kernel's code and lists out of the folder `source` into an output that is a directory, before it is
    /// settled.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub(crate) fn copy_kernel(&self, source: &Path) -> Result<(), CaptureError> {
        let copied = self.container.copy_kernel(source);
        copied.map_err(|error| CaptureError::KernelCode {
            source_folder: source.to_owned(),
            error,
        })
    }

    /// Makes the files of an output that is a directory, before it is settled. They are to be given back when they are
    /// written, to [`Recording::take_parts`].
    ///
    /// # Errors
    /// A file or its compressor cannot be made.
    pub(crate) fn make_parts(
        &self,
        count: usize,
        options: &OutputOptions,
        events: &[WriterEvent],
    ) -> Result<Vec<RecordingPart>, CaptureError> {
        let make = |index| {
            let file = self.container.create_part(index)?;
            let compression = options.compression.map(Compressor::new).transpose()?;
            let bytes = Arc::clone(&self.bytes_of_parts);
            Ok(RecordingPart::new(
                file,
                bytes,
                compression,
                tally_of(events),
            ))
        };
        let parts = (0..count).map(make).collect::<io::Result<_>>();
        parts.map_err(|source| CaptureError::Output {
            to: self.to.clone(),
            source,
        })
    }

    /// Takes the files of a directory that others have written.
    pub(crate) fn take_parts(&mut self, parts: impl IntoIterator<Item = RecordingPart>) {
        self.parts.extend(parts);
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

    /// Takes a piece of a hardware trace as it is.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub(crate) fn trace(&mut self, piece: &TracePiece<'_>) -> Result<(), WriteError> {
        let offset = FileOffset(self.container.position());
        let record = piece.record();
        let [first, second] = piece.bytes;
        let padding = &[0; 8][..piece.padding()];
        self.container
            .append_whole(&[&record, first, second, padding])?;
        if let Some(index) = &mut self.traces {
            index.0.push(AuxtraceEntry {
                offset,
                size: record.len() as u64,
            });
        }
        Ok(())
    }

    /// The error for a write that the output refused.
    pub(crate) fn unwritten(&self, source: WriteError) -> CaptureError {
        CaptureError::Write {
            to: self.to.clone(),
            source,
        }
    }

    /// Adds features that are known by now.
    pub(crate) fn add_features(&mut self, found: &FeatureSet) {
        self.container.add_features(found);
    }

    /// Bytes written so far.
    pub(crate) fn position(&self) -> u64 {
        self.container.position() + self.bytes_of_parts.load(Ordering::Relaxed)
    }

    /// Sizes before and after compression, if anything was to be compressed.
    pub(crate) fn volume(&self) -> Option<Volume> {
        self.compressed().map(|(_, volume)| volume)
    }

    fn compressed(&self) -> Option<(Compression, Volume)> {
        let parts = self.parts.iter().filter_map(RecordingPart::compression);
        Compressor::of_all(self.compressor.iter().chain(parts))
    }

    /// The findings in all records. A second signal cuts the search for binaries that were hit short.
    ///
    /// # Errors
    /// The file cannot be read back.
    pub(crate) fn look_over(&mut self, build_ids: BuildIdPolicy) -> Result<Scan, CaptureError> {
        let mut tally = std::mem::take(&mut self.tally);
        let written = self.container.written_records();
        let Some(data) = written.filter(|_| self.is_read_back) else {
            let parts = self.parts.iter_mut().map(RecordingPart::take_tally);
            parts.for_each(|part| tally.add(part));
            return Ok(tally.finish());
        };
        let parts = self.parts.iter().map(RecordingPart::written_records);
        let records: Vec<FileRecords<'_>> = std::iter::once(data).chain(parts).collect();
        let hurry = || {
            self.interrupts.take();
            self.interrupts.is_repeated()
        };
        let scanned = tally.scan(&records[..], build_ids == BuildIdPolicy::Hit, &hurry);
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
            compressed: self.compressed().map(|(feature, _)| feature),
            traces: self.traces,
        };
        let to = self.to;
        self.container
            .finish(known)
            .map_err(|source| CaptureError::Write { to, source })
    }

    /// Writes what was compressed by now, and shows it to readers.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    pub(crate) fn write_ready(&mut self) -> Result<(), WriteError> {
        let ready = self.packing.as_mut().map(Packing::ready);
        self.write_packed(ready.unwrap_or_else(|| Ok(Vec::new())))?;
        self.container.checkpoint()
    }

    /// Waits until everything is compressed that was given to be, and writes it. No more records come from rings.
    ///
    /// # Errors
    /// As [`Recording::write_ready`].
    pub(crate) fn finish_packing(&mut self) -> Result<(), WriteError> {
        let Some(packing) = self.packing.take() else {
            return Ok(());
        };
        let finished = packing.finish();
        let (rest, Worked { compressor, tally }) =
            finished.map_err(|source| self.container.unpacked(0, source))?;
        self.tally.add(tally);
        self.compressor = Some(compressor);
        self.write_packed(Ok(rest))?;
        self.container.checkpoint()
    }

    fn write_packed(&mut self, packed: io::Result<Vec<Packed>>) -> Result<(), WriteError> {
        let packed = packed.map_err(|source| self.container.unpacked(0, source))?;
        for Packed { records, plain, .. } in packed {
            let records = records.map_err(|source| self.container.unpacked(plain, source))?;
            self.container.append(&records)?;
        }
        Ok(())
    }

    /// Writes records as they are.
    fn write(&mut self, records: &[u8]) -> Result<(), WriteError> {
        if !self.is_read_back {
            self.tally.take(records);
        }
        self.container.append(records)
    }
}

/// Counts the records of these events.
fn tally_of(events: &[WriterEvent]) -> Tally {
    Tally::new(events.iter().map(|event| (&event.attr, &event.ids[..])))
}

impl RecordOutput for Recording {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let Some(packing) = &mut self.packing else {
            return self.write(records);
        };
        // Compressed records are never read back: the thread counts them.
        let back = packing.records(records);
        self.write_packed(back)
    }

    fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
        match (mark, &mut self.packing) {
            (Some(mark), Some(packing)) => {
                let marked = packing.mark(mark);
                marked.map_err(|source| self.container.unpacked(mark.len(), source))?;
            }
            (Some(mark), None) => self.container.append(mark)?,
            (None, _) => {}
        }
        self.write_ready()
    }
}
