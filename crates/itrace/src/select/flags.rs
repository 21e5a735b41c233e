//! The flags of branches and instructions, and which branches are wanted by them.

use intel_pt::insn::Class;
use intel_pt::{Moment, Transfer, TransferCause};
use oxperf_session::SampleFlags;

use crate::ItraceOptions;
use crate::plan::Plan;

/// Which events pass the filter of branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BranchFilter(SampleFlags);

impl BranchFilter {
    pub(crate) fn new(options: &ItraceOptions) -> BranchFilter {
        use SampleFlags as F;
        let calls = if options.events.calls {
            F::CALL | F::ASYNC | F::TRACE_END
        } else {
            F::default()
        };
        let returns = if options.events.returns {
            F::RETURN | F::TRACE_BEGIN
        } else {
            F::default()
        };
        BranchFilter(calls | returns)
    }

    pub(crate) fn takes(self, flags: SampleFlags) -> bool {
        self.0 == SampleFlags::default() || flags.meets(self.0)
    }
}

/// What a taken instruction of a class does, as flags.
pub(crate) fn flags_of(class: Class) -> SampleFlags {
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

/// A guest is left, which no instruction of it asked for.
pub(crate) const EXIT_OF_GUEST: SampleFlags = SampleFlags::BRANCH
    .with(SampleFlags::CALL)
    .with(SampleFlags::ASYNC)
    .with(SampleFlags::VM_EXIT);

/// What something other than an instruction did, as flags.
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

/// The state of the processor, as flags.
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

/// The transfer of control that an event comes with, as flags.
pub(crate) fn transfer_flags(transfer: Transfer) -> SampleFlags {
    use SampleFlags as F;
    let ended = if transfer.end {
        F::TRACE_END
    } else {
        F::default()
    };
    ended
        | match transfer.by {
            TransferCause::Instruction(class) => flags_of(class),
            TransferCause::Asynchronous => async_flags(transfer.to, transfer.end, false),
            TransferCause::Begin => F::BRANCH | F::TRACE_BEGIN,
        }
}
