//! Instructions by their effect on the flow of control.

/// The kinds of instructions that a trace keeps apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// The next instruction follows.
    Other,
    /// A conditional jump.
    Conditional,
    /// LOOP, LOOPE, LOOPNE: a conditional jump, too.
    Loop,
    /// A jump to a fixed place.
    Jump,
    /// A jump to a place that is computed, or a far jump.
    JumpIndirect,
    /// A call of a fixed place.
    Call,
    /// A call of a place that is computed, or a far call.
    CallIndirect,
    /// A near or far return.
    Return,
    /// INT, INT1, INT3, INTO.
    Interrupt,
    /// IRET.
    InterruptReturn,
    /// SYSCALL, SYSENTER.
    Syscall,
    /// SYSRET, SYSEXIT.
    SysReturn,
    /// VMLAUNCH, VMRESUME.
    VmEntry,
    /// ERETS: event return to the supervisor.
    EventReturnSupervisor,
    /// ERETU: event return to the user.
    EventReturnUser,
    /// PTWRITE.
    PtWrite,
}

/// The knowledge that is needed to go on behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Nothing: the next instruction follows.
    Next,
    /// Nothing: it branches to a fixed place.
    Direct,
    /// The outcome of a branch: a TNT bit.
    Conditional,
    /// The target: a TIP packet or, for returns, a TNT bit.
    Indirect,
}

impl Class {
    /// The knowledge that is needed to go on behind an instruction of this class.
    #[inline]
    pub const fn flow(self) -> Flow {
        match self {
            Class::Other | Class::PtWrite => Flow::Next,
            Class::Jump | Class::Call => Flow::Direct,
            Class::Conditional | Class::Loop => Flow::Conditional,
            _ => Flow::Indirect,
        }
    }

    /// True if it puts a return address onto the stack that a RET takes back.
    #[inline]
    pub const fn is_call(self) -> bool {
        matches!(self, Class::Call | Class::CallIndirect)
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Bytes that it has: 1 to 15.
    pub length: u8,
    /// Its kind.
    pub class: Class,
    /// Of a direct branch: the distance of its target from the end of the instruction. Otherwise 0.
    pub relative: i32,
}
