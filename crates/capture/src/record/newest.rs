//! The rings that keep the newest records, and where these are written when somebody wants them.

use oxperf_sys::{BackwardRing, Kernel};

use super::Recorder;
use crate::drain::NewestRing;
use crate::error::CaptureError;
use crate::open::OpenEvents;
use crate::output::{RecordOutput, RecordingPart};
use crate::plan::{RingKey, RingKind};

/// A ring that keeps the newest records.
pub(super) struct NewestSource {
    key: RingKey,
    ring: NewestRing,
    /// The file of its records, where each ring has one; else they go to the recording's own.
    part: Option<RecordingPart>,
}

/// The rings, of which nothing was copied yet, with the files for their records where they have such.
pub(super) fn sources(
    rings: Vec<(RingKey, BackwardRing)>,
    parts: Vec<RecordingPart>,
) -> Vec<NewestSource> {
    let parts = parts
        .into_iter()
        .map(Some)
        .chain(std::iter::repeat_with(|| None));
    let source = |((key, ring), part)| NewestSource {
        key,
        ring: NewestRing::new(ring),
        part,
    };
    rings.into_iter().zip(parts).map(source).collect()
}

impl NewestSource {
    /// Gives the file of its records, if it has one.
    pub(super) fn take_part(&mut self) -> Option<RecordingPart> {
        self.part.take()
    }

    /// Copies what the ring holds that was not copied before.
    fn copy(&mut self, kernel: &dyn Kernel, open: &OpenEvents) -> Result<Vec<u8>, CaptureError> {
        let mut records = Vec::new();
        if let Some(owner) = open.owner_of(self.key, RingKind::Backward) {
            let copied = self.ring.copy(kernel, owner, &mut records);
            copied.map_err(CaptureError::Pause)?;
        }
        Ok(records)
    }
}

impl Recorder<'_> {
    /// Writes what the rings hold that keep the newest records.
    ///
    /// # Errors
    /// A ring cannot be held still, or the output refuses.
    pub(super) fn write_newest(&mut self) -> Result<(), CaptureError> {
        let mut is_moved = false;
        for source in &mut self.newest {
            let records = source.copy(self.context.kernel, &self.acquired.open)?;
            if records.is_empty() {
                continue;
            }
            is_moved = true;
            let written = match &mut source.part {
                Some(part) => part.kernel_records(&records),
                None => self.recording.kernel_records(&records),
            };
            written.map_err(|source| self.recording.unwritten(source))?;
        }
        if is_moved {
            let shown = self.recording.end_pass(None);
            shown.map_err(|source| self.recording.unwritten(source))?;
            self.wakeups += 1;
        }
        Ok(())
    }
}
