//! The flags of branches and instructions, and the filter of branches by them.

use intel_pt::insn::Class;
use intel_pt::{Moment, Transfer, TransferCause};
use oxperf_session::SampleFlags;

use crate::EventSelection;
use crate::plan::Plan;

/// The filter of branches, by their flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BranchFilter {
    /// One of these flags is enough; `None` for all branches.
    any_of: Option<SampleFlags>,
}

impl BranchFilter {
    /// Every branch passes.
    #[cfg(test)]
    pub(crate) const ALL: BranchFilter = BranchFilter { any_of: None };

    /// Calls and returns, if the events are limited to them.
    pub(crate) fn new(events: &EventSelection) -> BranchFilter {
        use SampleFlags as F;
        let calls = F::CALL | F::ASYNC | F::TRACE_END;
        let returns = F::RETURN | F::TRACE_BEGIN;
        let any_of = match (events.calls, events.returns) {
            (false, false) => None,
            (true, false) => Some(calls),
            (false, true) => Some(returns),
            (true, true) => Some(calls | returns),
        };
        BranchFilter { any_of }
    }

    /// True when a branch with these flags passes.
    pub(crate) fn takes(self, flags: SampleFlags) -> bool {
        self.any_of.is_none_or(|any_of| flags.meets(any_of))
    }
}

/// The flags of a taken instruction of a class.
pub(crate) fn class_flags(class: Class) -> SampleFlags {
    use SampleFlags as F;
    let more = match class {
        Class::Other | Class::PtWrite => return F::default(),
        Class::Jump | Class::JumpIndirect => F::BRANCH,
        Class::Conditional | Class::Loop => F::CONDITIONAL,
        Class::Call | Class::CallIndirect => F::CALL,
        Class::Return => F::RETURN,
        Class::Interrupt => F::CALL | F::INTERRUPT,
        Class::InterruptReturn | Class::EventReturnSupervisor | Class::EventReturnUser => {
            F::RETURN | F::INTERRUPT
        }
        Class::Syscall => F::CALL | F::SYSCALL,
        Class::SysReturn => F::RETURN | F::SYSCALL,
        Class::VmEntry => F::CALL | F::VM_ENTRY,
    };
    F::BRANCH | more
}

/// The flags where a guest is left, which no instruction of it asked for.
pub(crate) const EXIT_OF_GUEST: SampleFlags = SampleFlags::BRANCH
    .with(SampleFlags::CALL)
    .with(SampleFlags::ASYNC)
    .with(SampleFlags::VM_EXIT);

/// The flags of a transfer that something other than an instruction made.
pub(crate) fn async_flags(to: Option<u64>, end: bool, abort: bool) -> SampleFlags {
    use SampleFlags as F;
    let ended = if end { F::TRACE_END } else { F::default() };
    ended
        | match (abort, to) {
            (true, _) => F::BRANCH | F::TX_ABORT,
            (_, None) => F::BRANCH | F::ASYNC | F::TRACE_END,
            (_, Some(_)) => F::BRANCH | F::CALL | F::ASYNC | F::INTERRUPT,
        }
}

/// The flags of the processor's state.
pub(crate) fn state_flags(moment: &Moment, plan: &Plan) -> SampleFlags {
    use SampleFlags as F;
    let mode = moment.mode;
    let flag = |is: bool, flag: F| if is { flag } else { F::default() };
    flag(mode.in_transaction, F::IN_TX)
        | flag(
            plan.has_interrupt_flag && mode.interrupts_disabled,
            F::INTERRUPTS_DISABLED,
        )
        | flag(
            plan.has_interrupt_flag && mode.interrupts_toggled,
            F::INTERRUPTS_TOGGLED,
        )
}

/// The flags of the transfer of control that an event comes with.
pub(crate) fn transfer_flags(transfer: Transfer) -> SampleFlags {
    use SampleFlags as F;
    let ended = if transfer.end {
        F::TRACE_END
    } else {
        F::default()
    };
    ended
        | match transfer.by {
            TransferCause::Instruction(class) => class_flags(class),
            TransferCause::Asynchronous => async_flags(transfer.to, transfer.end, false),
            TransferCause::Begin => F::BRANCH | F::TRACE_BEGIN,
        }
}
