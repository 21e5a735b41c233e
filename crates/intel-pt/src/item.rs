//! What a decoder tells, item by item.

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
        /// Whether the trace says so itself (TIP.PGE); otherwise the decoder found its way back.
        enabled: bool,
        /// Whether it ends there at once: the packet that ends it is the first that tells an address.
        end: bool,
    },
    /// Control was transferred by something other than the instruction: an interrupt, an exception, an abort.
    Async {
        /// The instruction that was to be executed.
        from: u64,
        /// Where control went; `None` where tracing ends.
        to: Option<u64>,
        /// Whether tracing ends here (TIP.PGD).
        end: bool,
        /// Whether it was the abort of a transaction.
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
    /// The stretch of trace is used up: feed the next.
    End,
}

/// What went wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// What.
    pub kind: ErrorKind,
    /// The instruction pointer at that point, if it is known.
    pub ip: Option<u64>,
}

/// What can go wrong.
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

/// When an item happened, as far as the trace says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Where in the trace the packet begins that told it.
    pub offset: u64,
    /// The time; `None` before the first TSC packet.
    pub time: Option<Tsc>,
    /// The next instruction of the program, if it is known.
    pub ip: Option<u64>,
    /// Instructions so far.
    pub instructions: u64,
    /// Cycles so far.
    pub cycles: Cycles,
    /// Whether cycles were told for exactly this moment: of a run, for its first deciding instruction.
    pub cycles_fresh: bool,
    /// Whether cycles come from CYC packets; otherwise they are worked out from time, and true at any moment.
    pub cycles_counted: bool,
    /// The state of the processor.
    pub mode: Mode,
}

/// Cycles that were spent while code was traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// Up to the last moment for which they were told exactly.
    pub exact: u64,
    /// Up to the last moment for which time was told: the cycles of branches that were not taken may be among them.
    pub rough: u64,
}

/// The state of the processor as far as the trace says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// How wide the code is that ran.
    pub width: ExecMode,
    /// Whether a transaction runs.
    pub in_transaction: bool,
    /// Whether a guest runs.
    pub guest: bool,
    /// Whether that changes with the transfer of control that ends here.
    pub guest_toggled: bool,
    /// Whether interrupts are disabled. It means something only if event trace was on.
    pub interrupts_disabled: bool,
    /// Whether that changes here.
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
