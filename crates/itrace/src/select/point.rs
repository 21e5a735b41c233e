//! Places in the flow of control.

use intel_pt::Moment;
use intel_pt::packet::ExecMode;
use oxperf_session::SampleFlags;

use crate::stack::BranchStep;

/// A place in the flow at which samples are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Address of the instruction; 0 where tracing begins.
    pub(crate) from: u64,
    /// Target of the branch; 0 where there is none or it is not known.
    pub(crate) to: u64,
    pub(crate) flags: SampleFlags,
    /// Bytes of the instruction; 0 where none did it.
    pub(crate) length: u8,
    /// Instructions up to here.
    pub(crate) instructions: u64,
    /// Cycles up to here, if they belong to this point.
    pub(crate) cycles: Option<u64>,
    /// Width of the code.
    pub(crate) width: ExecMode,
    /// A guest runs.
    pub(crate) guest: bool,
    /// Control goes from a guest to its host or the other way.
    pub(crate) crosses: bool,
}

impl Point {
    /// A place where an instruction runs and nothing else happens.
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

    /// The point behind so many instructions more.
    pub(crate) fn behind(&self, instructions: u64) -> Point {
        Point {
            instructions: self.instructions + instructions,
            ..*self
        }
    }

    /// The step that the stack of its thread makes.
    pub(crate) fn step(&self, stretch: u64) -> BranchStep {
        let Point {
            flags,
            from,
            to,
            length,
            ..
        } = *self;
        BranchStep {
            flags,
            from,
            to,
            length,
            stretch,
        }
    }
}
