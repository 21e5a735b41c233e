//! The items that a decoder emits.

use crate::event::Event;
use crate::packet::ExecMode;

/// A value of the time-stamp counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tsc(pub u64);

/// The next thing in the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    /// Code ran: `Decoder::path` has it.
    Path,
    /// Tracing begins, or goes on after something was lost.
    Begin {
        /// The first instruction.
        to: u64,
        /// True if the trace says so itself (TIP.PGE); otherwise the decoder found its way back.
        enabled: bool,
        /// True if it ends there at once: the packet that ends it is the first with an address.
        end: bool,
    },
    /// Control was transferred by something other than the instruction: an interrupt, an exception, an abort.
    Async {
        /// The instruction that was to be executed.
        from: u64,
        /// The target; `None` where tracing ends.
        to: Option<u64>,
        /// True if tracing ends here (TIP.PGD).
        end: bool,
        /// True if it was the abort of a transaction.
        abort: bool,
    },
    /// The instruction at `ip` ran: a packet names it. Only with [`QuickMode`](crate::QuickMode).
    Address {
        /// The instruction.
        ip: u64,
    },
    /// Something beside the flow of control.
    Event(Event),
    /// Something is lost or wrong. Decoding goes on where it can.
    Error(Error),
    /// The time limit is reached, see `Decoder::set_limit`.
    Pause,
    /// The chunk of trace is used up: push the next.
    End,
}

/// An error and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The instruction pointer at that point, if it is known.
    pub ip: Option<u64>,
}

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The decoder contradicts itself.
    Internal,
    /// Bytes that are no packet, or a packet where it cannot be.
    BadPacket,
    /// The trace ends inside a packet.
    NoMoreData,
    /// There is no code at the address.
    MissingCode,
    /// The trace does not fit the code.
    Mismatch,
    /// The processor dropped packets.
    Overflow,
    /// The code loops without a packet.
    EndlessLoop,
    /// The bits of an emulated PTWRITE are broken off.
    BrokenPtWrite,
}

impl ErrorKind {
    /// The number that perf gives this error in its records.
    pub const fn perf_code(self) -> u32 {
        match self {
            ErrorKind::Internal => 2,
            ErrorKind::BadPacket => 3,
            ErrorKind::NoMoreData => 4,
            ErrorKind::MissingCode => 5,
            ErrorKind::Mismatch => 6,
            ErrorKind::Overflow => 7,
            ErrorKind::EndlessLoop => 10,
            ErrorKind::BrokenPtWrite => 11,
        }
    }
}

/// The moment of an item, as far as the trace has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The place in the trace of the packet that led to it.
    pub offset: u64,
    /// The time; `None` before the first TSC packet.
    pub time: Option<Tsc>,
    /// The next instruction of the program, if it is known.
    pub ip: Option<u64>,
    /// Instructions so far.
    pub instructions: u64,
    /// Cycles so far.
    pub cycles: Cycles,
    /// True if cycles are known for exactly this moment: of a path, for its first deciding instruction.
    pub cycles_fresh: bool,
    /// True if cycles come from CYC packets; otherwise they are worked out from time, and true at any moment.
    pub cycles_counted: bool,
    /// The state of the processor.
    pub mode: Mode,
}

/// Cycles that were spent while code was traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Up to the last moment for which they are known exactly.
    pub exact: u64,
    /// Up to the last moment for which the time is known: the cycles of branches that were not taken may be among them.
    pub rough: u64,
}

/// The state of the processor as far as the trace says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// The width of the code that ran.
    pub width: ExecMode,
    /// True if a transaction runs.
    pub in_transaction: bool,
    /// True if a guest runs.
    pub guest: bool,
    /// True if that changes with the transfer of control that ends here.
    pub guest_toggled: bool,
    /// True if interrupts are disabled. It means something only if event trace was on.
    pub interrupts_disabled: bool,
    /// True if that changes here.
    pub interrupts_toggled: bool,
}

impl Mode {
    /// The mode of a processor of which nothing is known.
    pub(crate) fn unknown() -> Mode {
        Mode {
            interrupts_disabled: true,
            ..Mode::default()
        }
    }
}
