//! Payloads of packets with more than one field. Each keeps the bits of its packet, reserved ones included, and gives
//! the fields by name.

/// Defines a payload that is a number of so many bytes.
macro_rules! payload {
    ($(#[$doc:meta])* $name:ident($type:ty, $bytes:literal)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name($type);

        impl $name {
            #[doc = concat!("From the payload, of which the low ", $bytes, " bytes count.")]
            #[inline]
            pub const fn from_bits(bits: $type) -> $name {
                $name(bits & (<$type>::MAX >> (<$type>::BITS - 8 * $bytes)))
            }

            /// The payload as it stands in the packet, the lowest byte first.
            #[inline]
            pub const fn bits(self) -> $type {
                self.0
            }
        }
    };
}

payload! {
    /// Paging: the new CR3.
    Pip(u64, 6)
}

impl Pip {
    /// The new value of CR3, without its low five bits.
    pub const fn cr3(self) -> u64 {
        self.0 >> 1 << 5
    }

    /// True if the processor is in VMX non-root operation.
    pub const fn non_root(self) -> bool {
        self.0 & 1 != 0
    }
}

payload! {
    /// Ties the time-stamp counter to the crystal clock: bytes 2 to 6 of the packet.
    Tma(u64, 5)
}

impl Tma {
    /// From the two counters.
    pub const fn new(ctc: u16, fast: u16) -> Tma {
        Tma(ctc as u64 | (fast as u64 & 0x1ff) << 24)
    }

    /// The low 16 bits of the crystal clock counter.
    pub const fn ctc(self) -> u16 {
        self.0 as u16
    }

    /// Ticks of the time-stamp counter since the crystal clock's last edge, of which nine bits are kept.
    pub const fn fast(self) -> u16 {
        (self.0 >> 24) as u16 & 0x1ff
    }

    /// The bits that the manual reserves, in their places.
    pub const fn reserved(self) -> u64 {
        self.0 & !(0xffff | 0x1ff << 24)
    }
}

/// The width of the code that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExecMode {
    /// 16-bit code: CS.L and CS.D are clear.
    Bits16,
    /// 32-bit code: CS.D is set.
    Bits32,
    /// 64-bit code: CS.L is set.
    #[default]
    Bits64,
}

payload! {
    /// The execution mode that holds from the next TIP on.
    ModeExec(u8, 1)
}

impl ModeExec {
    /// The mode; `None` where CS.L and CS.D are both set.
    pub const fn mode(self) -> Option<ExecMode> {
        match self.0 & 3 {
            0 => Some(ExecMode::Bits16),
            1 => Some(ExecMode::Bits64),
            2 => Some(ExecMode::Bits32),
            _ => None,
        }
    }

    /// True if interrupts are enabled, where event trace is on.
    pub const fn interrupt_flag(self) -> bool {
        self.0 & 4 != 0
    }
}

payload! {
    /// The transaction state that holds from the next address on.
    ModeTsx(u8, 1)
}

impl ModeTsx {
    /// True if a transaction runs.
    pub const fn in_transaction(self) -> bool {
        self.0 & 1 != 0
    }

    /// True if a transaction was aborted.
    pub const fn aborted(self) -> bool {
        self.0 & 2 != 0
    }
}

payload! {
    /// MWAIT, UMWAIT or TPAUSE was executed.
    Mwait(u64, 8)
}

impl Mwait {
    /// The hints of EAX.
    pub const fn hints(self) -> u8 {
        self.0 as u8
    }

    /// The extensions of ECX.
    pub const fn extensions(self) -> u8 {
        (self.0 >> 32) as u8 & 3
    }
}

payload! {
    /// Entry to a C-state.
    PowerEntry(u16, 2)
}

impl PowerEntry {
    /// True if the hardware alone asked for it.
    pub const fn hardware(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// The C-state asked for, as a number of its field: 0 stands for C1.
    pub const fn c_state(self) -> u8 {
        (self.0 >> 12) as u8
    }

    /// The sub-state asked for.
    pub const fn sub_c_state(self) -> u8 {
        (self.0 >> 8) as u8 & 0xf
    }
}

payload! {
    /// Back in C0.
    PowerExit(u64, 5)
}

impl PowerExit {
    /// The deepest C-state that was reached.
    pub const fn deepest(self) -> u8 {
        self.0 as u8 & 0xf
    }

    /// The C-state of which the processor woke.
    pub const fn last(self) -> u8 {
        (self.0 >> 4) as u8 & 0xf
    }

    /// The reason for which it woke, as bits: 1 interrupt, 4 store to the watched address, 8 hardware.
    pub const fn wake_reason(self) -> u8 {
        (self.0 >> 8) as u8 & 0xf
    }
}

/// The value of a PTWRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtWrite {
    qword: bool,
    ip: bool,
    value: u64,
}

impl PtWrite {
    /// Four bytes.
    #[inline]
    pub const fn dword(value: u32, ip: bool) -> PtWrite {
        PtWrite {
            qword: false,
            ip,
            value: value as u64,
        }
    }

    /// Eight bytes.
    #[inline]
    pub const fn qword(value: u64, ip: bool) -> PtWrite {
        PtWrite {
            qword: true,
            ip,
            value,
        }
    }

    /// True if a FUP with the instruction's address follows.
    pub const fn ip(self) -> bool {
        self.ip
    }

    /// True if it is eight bytes, not four.
    pub const fn is_qword(self) -> bool {
        self.qword
    }

    /// The value that was written.
    pub const fn value(self) -> u64 {
        self.value
    }
}

/// The size of the items of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemSize {
    /// Four bytes.
    Four,
    /// Eight bytes.
    Eight,
}

impl ItemSize {
    /// Bytes of an item's value.
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            ItemSize::Four => 4,
            ItemSize::Eight => 8,
        }
    }
}

payload! {
    /// A block of items begins (BBP).
    Block(u8, 1)
}

impl Block {
    /// The size of its items.
    pub const fn item_size(self) -> ItemSize {
        if self.0 & 0x80 != 0 {
            ItemSize::Four
        } else {
            ItemSize::Eight
        }
    }

    /// The kind of its items: 1 general registers, 4 basic PEBS, 5 memory, 8 to 10 last branches, 16 XMM registers.
    pub const fn kind(self) -> u8 {
        self.0 & 0x1f
    }
}

/// One value of a block (BIP).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockItem {
    id: u8,
    size: ItemSize,
    value: u64,
}

impl BlockItem {
    /// The item `id`, of which five bits are kept, with a value of this size.
    #[inline]
    pub const fn new(id: u8, size: ItemSize, value: u64) -> BlockItem {
        BlockItem {
            id: id & 0x1f,
            size,
            value: value & (u64::MAX >> (64 - 8 * size.bytes())),
        }
    }

    /// The number of this value among the block's.
    pub const fn id(self) -> u8 {
        self.id
    }

    /// Bytes of the value.
    pub const fn size(self) -> ItemSize {
        self.size
    }

    /// The value.
    pub const fn value(self) -> u64 {
        self.value
    }
}

payload! {
    /// A control flow event (CFE): the low byte says which, the high byte is its vector.
    ControlFlowEvent(u16, 2)
}

impl ControlFlowEvent {
    /// True if a FUP with the address follows.
    pub const fn ip(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// True if the address is that of an instruction which itself transfers control: IRET, VM entry, UIRET.
    pub const fn is_by_instruction(self) -> bool {
        matches!(self.kind(), 2 | 7 | 13)
    }

    /// The event: 1 interrupt, 2 IRET, 3 SMI, 4 RSM, 5 SIPI, 6 INIT, 7 VM entry, 8 and 9 VM exit, 10 shutdown,
    /// 12 user interrupt, 13 UIRET.
    pub const fn kind(self) -> u8 {
        self.0 as u8 & 0x1f
    }

    /// The vector, where the event has one.
    pub const fn vector(self) -> u8 {
        (self.0 >> 8) as u8
    }
}

/// More about the control flow event that follows (EVD).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventData {
    header: u8,
    value: u64,
}

impl EventData {
    /// From the byte that says what it is, and the value.
    #[inline]
    pub const fn new(header: u8, value: u64) -> EventData {
        EventData { header, value }
    }

    /// The meaning of the value: 0 the address of a page fault, 1 and 2 why a guest was left.
    pub const fn kind(self) -> u8 {
        self.header & 0x3f
    }

    /// The byte that says what it is, reserved bits included.
    pub const fn header(self) -> u8 {
        self.header
    }

    /// The value.
    pub const fn value(self) -> u64 {
        self.value
    }
}

/// A trigger of trace actions fired (TRIG).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trigger {
    header: u8,
    fired: u8,
    instructions: u16,
}

impl Trigger {
    /// Set in the header where the number of instructions follows.
    pub(super) const COUNTED: u8 = 0x40;

    /// From the header, the bits of what fired, and the number of instructions, which is kept if the header has it.
    pub const fn new(header: u8, fired: u8, instructions: u16) -> Trigger {
        let counted = header & Trigger::COUNTED != 0;
        Trigger {
            header,
            fired,
            instructions: if counted { instructions } else { 0 },
        }
    }

    /// The byte with the flags, reserved bits included.
    pub const fn header(self) -> u8 {
        self.header
    }

    /// The triggers that fired, as bits.
    pub const fn fired(self) -> u8 {
        self.fired
    }

    /// True if a FUP with the address follows.
    pub const fn ip(self) -> bool {
        self.header & 0x80 != 0
    }

    /// True if one of them fired more than once.
    pub const fn multiple(self) -> bool {
        self.header & 0x20 != 0
    }

    /// Instructions since the last address in the trace, where the packet says it.
    pub const fn instructions(self) -> Option<u16> {
        if self.header & Trigger::COUNTED != 0 {
            Some(self.instructions)
        } else {
            None
        }
    }
}
