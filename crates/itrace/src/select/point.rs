//! Places in the flow of control.

use std::num::NonZeroU8;

use intel_pt::Moment;
use intel_pt::packet::ExecMode;
use oxperf_session::SampleFlags;

use crate::stack::BranchStep;

/// A place in the flow at which samples are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Address of the instruction; `None` where tracing begins. An address of 0 is none.
    pub(crate) from: Option<u64>,
    /// Target of the branch; `None` where there is none or it is not known. An address of 0 is none.
    pub(crate) to: Option<u64>,
    pub(crate) flags: SampleFlags,
    /// Bytes of the instruction; `None` where no instruction did it.
    pub(crate) length: Option<NonZeroU8>,
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
    pub(crate) fn at(ip: Option<u64>, moment: &Moment) -> Point {
        Point {
            from: known(ip),
            to: None,
            flags: SampleFlags::default(),
            length: None,
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

/// An address, if it is one.
#[inline]
pub(crate) fn known(address: Option<u64>) -> Option<u64> {
    address.filter(|address| *address != 0)
}
