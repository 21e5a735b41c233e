//! The fast path of samples that become text: lines of code that ran, where the moment and the place alone decide how
//! they look.

use std::num::NonZeroU8;
use std::sync::Arc;

use intel_pt::{Located, Moment};
use oxperf_session::{EventIndex, SampleFlags, SampleTextWriter};

use super::flags::{BranchFilter, class_flags};
use super::point::{Point, known};
use super::point_sampler::PointSampler;

/// The samples that are written as text, and their writer.
#[derive(Clone)]
pub(crate) struct TextFastPath<'w> {
    /// The event whose samples these are.
    pub(crate) event: EventIndex,
    pub(crate) selection: TextSelection,
    writer: Arc<dyn SampleTextWriter + 'w>,
    /// The shortest time that lines tell apart, ns; `None` if they show no time.
    pub(super) resolution: Option<u64>,
}

impl<'w> TextFastPath<'w> {
    /// The samples of an event, written by `writer`.
    pub(crate) fn new(
        event: EventIndex,
        selection: TextSelection,
        writer: Arc<dyn SampleTextWriter + 'w>,
    ) -> TextFastPath<'w> {
        TextFastPath {
            event,
            selection,
            resolution: writer.prefix_resolution(),
            writer,
        }
    }
}

/// The instructions that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextSelection {
    /// Each.
    Instructions,
    /// Taken branches that pass the filter.
    Branches(BranchFilter),
}

/// A line: an instruction and where it led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlaceLine {
    pub(super) from: Located,
    /// The target of its branch, if it is known.
    pub(super) to: Option<u64>,
    /// Flags beside those of the instruction.
    pub(super) more_flags: SampleFlags,
}

/// Writes lines of code that ran while nothing of the machine changed.
#[derive(Clone, Copy)]
pub(crate) struct TextSynth<'s> {
    pub(crate) path: &'s TextFastPath<'s>,
    pub(crate) sampler: PointSampler<'s>,
}

impl TextSynth<'_> {
    /// True when a branch is written at all.
    pub(super) fn takes(&self, from: Located, more_flags: SampleFlags) -> bool {
        match self.path.selection {
            TextSelection::Branches(filter) => filter.takes(class_flags(from.class) | more_flags),
            TextSelection::Instructions => false,
        }
    }

    /// Appends a line without its prefix.
    pub(super) fn write_place(&self, line: PlaceLine, moment: &Moment, out: &mut Vec<u8>) {
        let PlaceLine {
            from,
            to,
            more_flags,
        } = line;
        let point = Point {
            to: known(to),
            flags: class_flags(from.class) | more_flags,
            length: NonZeroU8::new(from.length),
            ..Point::at(Some(from.ip), moment)
        };
        let sample = self.sampler.sample(&point, 0);
        self.path
            .writer
            .write_location(self.sampler.machine, &sample, out);
    }

    /// Appends the prefix of a line.
    pub(super) fn write_prefix(&self, timestamp: u64, period: u64, out: &mut Vec<u8>) {
        let mut sample = self.sampler.moment(timestamp);
        (sample.period, sample.sample.period) = (period, Some(period));
        self.path
            .writer
            .write_prefix(self.sampler.machine, &sample, out);
    }
}
