//! Places in the flow of control.

use intel_pt::Moment;
use intel_pt::packet::ExecMode;
use oxperf_session::SampleFlags;

use crate::stack::Step;

/// A place in the flow at which samples are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) flags: SampleFlags,
    /// Of the instruction; 0 where none did it.
    pub(crate) length: u8,
    /// Instructions till now.
    pub(crate) instructions: u64,
    /// Cycles till now, if they belong to this point.
    pub(crate) cycles: Option<u64>,
    /// How wide the code is.
    pub(crate) width: ExecMode,
    /// Whether a guest runs.
    pub(crate) guest: bool,
    /// Whether control goes from a guest to its host or the other way.
    pub(crate) crosses: bool,
}

impl Point {
    /// A place where nothing happens but an instruction.
    pub(crate) fn at(ip: u64, moment: &Moment) -> Point {
        Point {
            from: ip,
            to: 0,
            flags: SampleFlags::default(),
            length: 0,
            instructions: moment.instructions,
            cycles: None,
            width: moment.mode.width,
            guest: moment.mode.guest,
            crosses: false,
        }
    }
}

impl Point {
    /// The same behind so many instructions more.
    pub(crate) fn behind(&self, instructions: u64) -> Point {
        Point {
            instructions: self.instructions + instructions,
            ..*self
        }
    }

    /// What it does to the stack of its thread.
    pub(crate) fn step(&self, stretch: u64) -> Step {
        let Point {
            flags,
            from,
            to,
            length,
            ..
        } = *self;
        Step {
            flags,
            from,
            to,
            length,
            stretch,
        }
    }
}
