//! Events of a trace beside the flow of control.

use crate::insn::Class;
use crate::packet::{BlockItem, ControlFlowEvent, Mwait, PowerEntry, PowerExit};

/// An event. Where an `ip` is `Some`, a FUP packet names the instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A PSB, with the address that its FUP names.
    Psb {
        /// Its place in the trace.
        offset: u64,
        /// The address, if tracing was on.
        ip: Option<u64>,
        /// True if an error had come before it, and decoding goes on at the address.
        begins: bool,
    },
    /// The core to bus clock ratio changed.
    Cbr {
        /// The ratio.
        ratio: u8,
        /// The packet's whole payload.
        payload: u16,
        /// The place of the program.
        place: RatioPlace,
    },
    /// The program wrote a value.
    PtWrite {
        /// The value.
        value: u64,
        /// The instruction.
        ip: Option<u64>,
    },
    /// The program asked to wait.
    Mwait(Mwait),
    /// A C-state was entered.
    PowerEntry(PowerEntry),
    /// Execution stopped.
    ExStop {
        /// The instruction.
        ip: Option<u64>,
    },
    /// The processor woke.
    PowerExit(PowerExit),
    /// An interrupt, exception or another event.
    ControlFlow {
        /// Its kind.
        event: ControlFlowEvent,
        /// The address of the instruction: the one that a FUP names, or where control went from.
        ip: Option<u64>,
        /// Its effect on the flow of control, if the trace has that with it.
        transfer: Option<Transfer>,
        /// More about it, in `Decoder::event_data`: so many values.
        data: u8,
    },
    /// The interrupt flag changed.
    InterruptFlag {
        /// True if interrupts are enabled now.
        enabled: bool,
        /// The instruction; `None` where tracing begins.
        ip: Option<u64>,
        /// The branch, if the change came with one.
        transfer: Option<Transfer>,
    },
    /// A block of items ended; `Decoder::block_items` has them.
    Block {
        /// The instruction.
        ip: Option<u64>,
    },
    /// The transaction state changed without an abort.
    Transaction {
        /// The instruction.
        ip: u64,
        /// True if a transaction runs now.
        began: bool,
    },
}

/// The place of the program at a new core to bus clock ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioPlace {
    /// The place of the program.
    Here,
    /// The code that begins here: the packet came while the way was lost.
    Begin(u64),
    /// No address is known: the trace names none with it.
    Unknown,
}

/// A transfer of control that an event comes with. Its item comes behind the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its cause.
    pub by: TransferCause,
    /// The target; `None` where tracing ends.
    pub to: Option<u64>,
    /// True if tracing ends here (TIP.PGD).
    pub end: bool,
}

/// The cause of a transfer of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferCause {
    /// An instruction of this class.
    Instruction(Class),
    /// An interrupt, an exception or the like.
    Asynchronous,
    /// Tracing begins.
    Begin,
}

/// A value of a block and the kind of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockValue {
    /// 1 general registers, 4 basic PEBS, 5 memory, 8 to 10 last branches, 16 XMM registers.
    pub block: u8,
    /// The value.
    pub item: BlockItem,
}
