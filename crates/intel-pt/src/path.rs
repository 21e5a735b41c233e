//! Paths: code that ran, as the blocks that were walked through.

use crate::insn::Class;
use crate::item::{Cycles, Tsc};
use crate::time::Choices;

/// Names a block of code. Numbers stay valid until the decoder's `epoch` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub(crate) u32);

impl BlockId {
    /// A small number, counted from 0: an index for what a caller keeps for each block.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An instruction of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// Its address.
    pub ip: u64,
    /// Bytes that it has.
    pub length: u8,
    /// Its effect on the flow of control.
    pub class: Class,
}

impl Located {
    /// The address behind it.
    #[inline]
    pub const fn behind(self) -> u64 {
        self.ip.wrapping_add(self.length as u64)
    }
}

/// Code that runs from its first instruction to the first whose outcome the trace has to give. Direct jumps and calls
/// are followed inside a block, so that its addresses need not be in order.
#[derive(Clone, Copy, Debug)]
pub struct BasicBlock<'a> {
    pub(crate) instructions: &'a [Located],
    pub(crate) jumps: &'a [u16],
}

impl<'a> BasicBlock<'a> {
    /// The instructions in the order of execution; the last one is the one that decides, if the block was decodable
    /// to there.
    #[inline]
    pub const fn instructions(self) -> &'a [Located] {
        self.instructions
    }

    /// Indices of the direct jumps and calls: each leads to the instruction behind it.
    #[inline]
    pub const fn jumps(self) -> &'a [u16] {
        self.jumps
    }
}

/// One execution of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockVisit(pub(crate) u32);

impl BlockVisit {
    /// Bit 31 says that the deciding instruction branched.
    const TAKEN: u32 = 1 << 31;

    #[inline]
    pub(crate) const fn new(block: u32, taken: bool) -> BlockVisit {
        BlockVisit(block | if taken { BlockVisit::TAKEN } else { 0 })
    }

    /// The block.
    #[inline]
    pub const fn block(self) -> BlockId {
        BlockId(self.0 & !BlockVisit::TAKEN)
    }

    /// True if its last instruction branched.
    #[inline]
    pub const fn taken(self) -> bool {
        self.0 & BlockVisit::TAKEN != 0
    }
}

/// An instruction that is to be sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Index into the path's visits.
    pub visit: u32,
    /// Index into the block's instructions.
    pub instruction: u32,
    /// For which states before a checkpoint: of a decoder that was not resumed for its one state.
    pub choices: Choices,
}

/// The code that ran between two packets of the trace.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    /// The blocks, in order.
    pub visits: &'a [BlockVisit],
    /// Instructions of the last visit that ran, where it is not all of them: an event came before the next one.
    pub partial: Option<u32>,
    /// The address of the instruction that runs next, or `None` if tracing ended with an unknown target.
    pub next: Option<u64>,
    /// True if tracing ended with the last instruction.
    pub end: bool,
    /// Instructions to sample.
    pub marks: &'a [Mark],
    /// The time of the instructions before the first deciding one. From that one on it is the moment's time.
    pub before: Option<Tsc>,
    /// Instructions of the whole path.
    pub instructions: u64,
    /// The first deciding instruction, counted from 1; `None` where the path goes on without one.
    pub decision: Option<u64>,
    /// Cycles before the deciding instruction; from that one on they are the moment's.
    pub cycles_before: Cycles,
}

/// A branch of a path that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The branching instruction.
    pub from: Located,
    /// Its target; `None` where tracing ended and the target is unknown.
    pub to: Option<u64>,
    /// True if tracing ended with it.
    pub end: bool,
    /// Instructions of the path up to and with this one.
    pub instructions: u64,
}
