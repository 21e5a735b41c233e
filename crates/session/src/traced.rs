//! Facts of samples that were made of hardware trace, beyond those of recorded ones.

use std::num::NonZeroU8;

use oxperf_abi::SampleFlags;
use oxperf_machine::Machine;

use crate::SampleEvent;

/// Writes samples whose moment and location alone are shown: a prefix for the one, and behind it the rest. Equal
/// samples have equal text, so that texts can be kept and made on any thread.
pub trait SampleTextWriter: Send + Sync {
    /// The shortest time that prefixes distinguish, ns; `None` if there are no prefixes.
    fn prefix_resolution(&self) -> Option<u64>;

    /// Appends the text before every sample of a moment: the thread, the time, and the sample's period.
    fn write_prefix(&self, machine: &Machine, moment: &SampleEvent<'_>, out: &mut Vec<u8>);

    /// Appends the text behind it: the location, and what happened there. It depends on the sample's address, target,
    /// flags, mode and code, and on what is mapped: see [`Machine::generation`].
    fn write_location(&self, machine: &Machine, sample: &SampleEvent<'_>, out: &mut Vec<u8>);
}

/// The width of code, which its bytes are read by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CodeWidth {
    /// Real mode and 16-bit segments.
    Bits16,
    /// 32-bit code.
    Bits32,
    /// 64-bit code.
    #[default]
    Bits64,
}

/// The instruction at a sample's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TracedCode {
    /// Its width.
    pub width: CodeWidth,
    /// Number of bytes of the instruction; `None` where it is not known.
    pub length: Option<NonZeroU8>,
    /// Its bytes, and those that follow.
    pub bytes: [u8; 16],
}

impl TracedCode {
    /// The bytes of the instruction; `None` where its length is not known.
    pub fn instruction(&self) -> Option<&[u8]> {
        let length = usize::from(self.length?.get());
        Some(&self.bytes[..length.min(self.bytes.len())])
    }
}

/// More about an interrupt or the like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventDatum {
    /// The kind of the value: 0 the address of a page fault, 1 and 2 why a guest was left.
    pub kind: u8,
    /// The value.
    pub value: u64,
}

impl EventDatum {
    /// No event has more.
    pub const MOST: usize = 3;
}

/// The values of events other than branches and instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload {
    /// The program wrote a value.
    PtWrite {
        /// The address is the instruction's.
        exact: bool,
        /// The value.
        value: u64,
    },
    /// The clock of the core.
    Cbr {
        /// Its ratio to the bus clock.
        ratio: u8,
        /// kHz.
        frequency: u32,
        /// The ratio without turbo.
        max_non_turbo: u8,
    },
    /// A boundary in the trace.
    Psb {
        /// Bytes from the beginning of the trace.
        offset: u64,
    },
    /// The program asked to wait.
    Mwait {
        /// EAX.
        hints: u32,
        /// ECX.
        extensions: u32,
    },
    /// A C-state was entered.
    PowerEntry {
        /// The hardware did so of itself.
        hardware: bool,
        /// The state.
        state: u8,
        /// The state in it.
        sub_state: u8,
    },
    /// Execution stopped.
    ExStop {
        /// The address is the instruction's.
        exact: bool,
    },
    /// The core woke.
    PowerExit {
        /// The deepest state.
        deepest: u8,
        /// The last state.
        last: u8,
        /// The reason: bits.
        wake_reason: u8,
    },
    /// An interrupt, an exception or the like.
    ControlFlow {
        /// Its number, as the processor has it: 1 is an interrupt.
        kind: u8,
        /// Its vector.
        vector: u8,
        /// The address is the event's.
        exact: bool,
        /// More about it.
        data: [Option<EventDatum>; EventDatum::MOST],
    },
    /// The interrupt flag changed.
    InterruptFlag {
        /// Interrupts are enabled now.
        enabled: bool,
        /// A branch changed it.
        by_branch: bool,
    },
}

/// The position of a sample in its trace; two samples of one trace differ by what lies between them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The trace's number: recordings have one trace for each CPU or thread.
    pub queue: u32,
    /// Changes where something of the trace is missing or could not be followed.
    pub stretch: u64,
    /// Instructions so far.
    pub instructions: u64,
    /// Cycles so far, as of the last packet that counts them.
    pub cycles: u64,
}

/// Facts of a sample from the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traced {
    /// The kind of branch or event.
    pub flags: SampleFlags,
    /// Instructions since the last sample of this event that had a count.
    pub instructions: u64,
    /// Cycles in the same time; 0 when nothing was counted.
    pub cycles: u64,
    /// The instruction.
    pub code: TracedCode,
    /// Calls that the thread is in, if they are followed.
    pub depth: u32,
    /// Its position in the trace.
    pub progress: Progress,
    /// Further values.
    pub payload: Option<Payload>,
}
