//! Every kind of packet.

use super::{
    Block, BlockItem, ControlFlowEvent, EventData, Ip, ItemSize, ModeExec, ModeTsx, Mwait, Pip,
    PowerEntry, PowerExit, PtWrite, Tma, Tnt, Trigger,
};

/// A packet: 24 bytes, to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packet {
    /// Nothing: fills space.
    Pad,
    /// Taken and not taken branches.
    Tnt(Tnt),
    /// The target of an indirect branch, return, interrupt or exception.
    Tip(Ip),
    /// Tracing begins here.
    TipPge(Ip),
    /// Tracing ends; the address is where the processor went, if that is visible.
    TipPgd(Ip),
    /// The address of an asynchronous event, or what the packet before it speaks of.
    Fup(Ip),
    /// Cycles since the last CYC packet.
    Cyc(u64),
    /// Bits of the crystal clock counter, chosen by the MTC period.
    Mtc(u8),
    /// The low 56 bits of the time-stamp counter.
    Tsc(u64),
    /// Ties the time-stamp counter to the crystal clock.
    Tma(Tma),
    /// Core to bus clock ratio: bits 0 to 7; the manual reserves the others.
    Cbr(u16),
    /// The execution mode.
    ModeExec(ModeExec),
    /// The transaction state.
    ModeTsx(ModeTsx),
    /// The page tables.
    Pip(Pip),
    /// Bits 12 to 51 of the VMCS pointer.
    Vmcs(u64),
    /// A boundary at which a decoder can begin.
    Psb,
    /// The status packets behind a PSB end.
    PsbEnd,
    /// Packets were lost for want of room inside the processor.
    Ovf,
    /// Tracing was stopped by a filter.
    TraceStop,
    /// Maintenance: for the maker of the processor.
    Mnt(u64),
    /// A value that the program wrote.
    PtWrite(PtWrite),
    /// Execution stopped; the flag says whether a FUP with the address follows.
    ExStop(bool),
    /// The program asked to wait.
    Mwait(Mwait),
    /// A C-state was entered.
    PowerEntry(PowerEntry),
    /// The processor woke.
    PowerExit(PowerExit),
    /// A block of items begins.
    BlockBegin(Block),
    /// An item of a block.
    BlockItem(BlockItem),
    /// A block ends; the flag says whether a FUP with the address follows.
    BlockEnd(bool),
    /// An interrupt, exception or another event of control flow.
    ControlFlowEvent(ControlFlowEvent),
    /// More about the control flow event that follows.
    EventData(EventData),
    /// A trigger fired.
    Trigger(Trigger),
}

impl Packet {
    /// The size of items behind this packet, given the size before it; `None` outside a block.
    ///
    /// Items come between BBP and BEP; packets of time and power and FUPs may stand among them, any other packet means
    /// that the block was broken off.
    #[inline]
    pub(super) fn items_after(self, before: Option<ItemSize>) -> Option<ItemSize> {
        match self {
            Packet::BlockBegin(block) => Some(block.item_size()),
            Packet::Pad
            | Packet::Fup(_)
            | Packet::Cyc(_)
            | Packet::Mtc(_)
            | Packet::Tsc(_)
            | Packet::Tma(_)
            | Packet::Cbr(_)
            | Packet::Mnt(_)
            | Packet::ExStop(_)
            | Packet::PowerEntry(_)
            | Packet::PowerExit(_)
            | Packet::BlockItem(_) => before,
            _ => None,
        }
    }
}
