//! Lines of code that ran, where the moment and the place alone decide how they look: what is written, and by whom.

use std::sync::Arc;

use intel_pt::{Located, Moment};
use oxperf_session::{EventIndex, SampleFlags, SampleTextWriter};

use super::Point;
use super::flags::{BranchFilter, flags_of};
use super::point_sampler::Scene;

/// What is written of code that ran, and how.
#[derive(Clone)]
pub(crate) struct Written<'w> {
    /// The event whose samples these are.
    pub(crate) event: EventIndex,
    pub(crate) shown: Shown,
    writer: Arc<dyn SampleTextWriter + 'w>,
    /// The shortest time that lines tell apart, ns; `None` if they tell of none.
    pub(super) resolution: Option<u64>,
}

impl<'w> Written<'w> {
    /// What `writer` writes.
    pub(crate) fn new(
        event: EventIndex,
        shown: Shown,
        writer: Arc<dyn SampleTextWriter + 'w>,
    ) -> Written<'w> {
        Written {
            event,
            shown,
            resolution: writer.prefix_resolution(),
            writer,
        }
    }
}

/// Which instructions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// Each.
    Instructions,
    /// Taken branches that pass the filter.
    Branches(BranchFilter),
}

/// Writes lines of code that runs in a scene.
#[derive(Clone, Copy)]
pub(crate) struct Scribe<'s> {
    pub(crate) written: &'s Written<'s>,
    pub(crate) scene: Scene<'s>,
}

impl Scribe<'_> {
    /// Whether a branch is written at all.
    pub(super) fn takes(&self, from: Located, more: SampleFlags) -> bool {
        matches!(self.written.shown, Shown::Branches(filter) if filter.takes(flags_of(from.class) | more))
    }

    /// Appends the line of an instruction, which branched to `to` with `more` flags than are its own, behind its head.
    pub(super) fn place(
        &self,
        (from, to): (Located, Option<u64>),
        more: SampleFlags,
        moment: &Moment,
        out: &mut Vec<u8>,
    ) {
        let flags = flags_of(from.class) | more;
        let point = Point {
            to: to.unwrap_or(0),
            flags,
            length: from.length,
            ..Point::at(from.ip, moment)
        };
        self.written
            .writer
            .write_location(self.scene.machine, &self.scene.sample(&point, 0), out);
    }

    /// Appends what stands before a line.
    pub(super) fn head(&self, timestamp: u64, period: u64, out: &mut Vec<u8>) {
        let mut sample = self.scene.moment(timestamp);
        (sample.period, sample.sample.period) = (period, Some(period));
        self.written
            .writer
            .write_prefix(self.scene.machine, &sample, out);
    }
}
