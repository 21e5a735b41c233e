//! A recording in files that follow each other, each of them whole; most recordings have one.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::SystemTime;

use oxperf_data::{FeatureSet, WriteError, WriterEvent};

use super::recording::Recording;
use super::{RecordOutput, RecordingPart, Volume, stamp};
use crate::error::CaptureError;
use crate::finish::{self, Scan};
use crate::interrupts::Interrupts;
use crate::options::{Destination, OutputOptions};

/// The file that is being written, what the next one begins with, and those before it.
pub(crate) struct RecordingSeries {
    options: OutputOptions,
    events: Vec<WriterEvent>,
    features: FeatureSet,
    interrupts: Rc<Interrupts>,
    current: Recording,
    /// The finished files, the oldest first; as many as are kept.
    kept: VecDeque<PathBuf>,
}

/// A file that is finished.
pub(crate) struct FinishedFile {
    /// Bytes up to the end of the records.
    pub(crate) bytes: u64,
    /// Sizes before and after compression, if anything was to be compressed.
    pub(crate) volume: Option<Volume>,
    /// The findings in its records.
    pub(crate) scan: Scan,
    /// Its name, where that has the moment when it was finished.
    pub(crate) name: Option<PathBuf>,
}

impl RecordingSeries {
    /// Begins the first file, or the only one.
    ///
    /// # Errors
    /// As [`Recording::begin`].
    pub(crate) fn begin(
        options: &OutputOptions,
        events: Vec<WriterEvent>,
        features: FeatureSet,
        interrupts: Rc<Interrupts>,
    ) -> Result<RecordingSeries, CaptureError> {
        let current = Recording::begin(options, &events, features.clone(), Rc::clone(&interrupts))?;
        Ok(RecordingSeries {
            options: options.clone(),
            events,
            features,
            interrupts,
            current,
            kept: VecDeque::new(),
        })
    }

    /// The file that is being written.
    pub(crate) fn current(&mut self) -> &mut Recording {
        &mut self.current
    }

    /// Bytes of the file that is being written.
    pub(crate) fn position(&self) -> u64 {
        self.current.position()
    }

    /// As [`Recording::make_parts`].
    ///
    /// # Errors
    /// See there.
    pub(crate) fn make_parts(&mut self, count: usize) -> Result<Vec<RecordingPart>, CaptureError> {
        self.current.make_parts(count, &self.options, &self.events)
    }

    /// The error for a write that the output refused.
    pub(crate) fn unwritten(&self, source: WriteError) -> CaptureError {
        self.current.unwritten(source)
    }

    /// Ends the file and begins the next one, which is empty. The next one is made before this one is ended, so that
    /// nothing is lost where it cannot be made.
    ///
    /// # Errors
    /// One cannot be made, or the other not be ended.
    pub(crate) fn switch(&mut self) -> Result<FinishedFile, CaptureError> {
        let (features, interrupts) = (self.features.clone(), Rc::clone(&self.interrupts));
        let next = Recording::begin(&self.options, &self.events, features, interrupts)?;
        let finished = complete(std::mem::replace(&mut self.current, next), &self.options)?;
        keep_newest(&mut self.kept, &finished, &self.options);
        self.current.settle()?;
        Ok(finished)
    }

    /// Ends the last file.
    ///
    /// # Errors
    /// It cannot be ended, or read back.
    pub(crate) fn finish(mut self) -> Result<FinishedFile, CaptureError> {
        let finished = complete(self.current, &self.options)?;
        keep_newest(&mut self.kept, &finished, &self.options);
        Ok(finished)
    }
}

/// Ends a file: what its records tell is added, and it gets its name.
fn complete(
    mut recording: Recording,
    options: &OutputOptions,
) -> Result<FinishedFile, CaptureError> {
    let packed = recording.finish_packing();
    packed.map_err(|source| recording.unwritten(source))?;
    let (bytes, volume) = (recording.position(), recording.volume());
    let scan = recording.look_over(options.build_ids)?;
    let build_ids = finish::build_ids(&scan, options.build_ids);
    recording.finish(build_ids, scan.times)?;
    let name = named(options).map_err(|source| CaptureError::Output {
        to: options.destination.clone(),
        source,
    })?;
    Ok(FinishedFile {
        bytes,
        volume,
        scan,
        name,
    })
}

/// Gives what was written the name of this moment, where that is wanted. A device keeps its name.
fn named(options: &OutputOptions) -> io::Result<Option<PathBuf>> {
    let (Destination::File(path) | Destination::Directory(path, _)) = &options.destination else {
        return Ok(None);
    };
    let is_own = fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink());
    if !options.timestamp_name || !is_own || !(path.is_file() || path.is_dir()) {
        return Ok(None);
    }
    let name = stamp::free_name(path, SystemTime::now())?;
    fs::rename(path, &name)?;
    Ok(Some(name))
}

/// Removes the oldest files beyond those that are kept.
fn keep_newest(kept: &mut VecDeque<PathBuf>, finished: &FinishedFile, options: &OutputOptions) {
    kept.extend(finished.name.clone());
    let most = options.rotation.and_then(|rotation| rotation.most_files);
    while most.is_some_and(|most| kept.len() > most) {
        if let Some(oldest) = kept.pop_front() {
            // Somebody else may have removed it.
            let _ = fs::remove_file(oldest);
        }
    }
}

impl RecordOutput for RecordingSeries {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        self.current.kernel_records(records)
    }

    fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
        self.current.end_pass(mark)
    }
}
