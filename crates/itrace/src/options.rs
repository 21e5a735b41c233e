//! The request of `--itrace` as values.

mod grammar;

pub use grammar::OptionsError;

/// The distance between two samples of instructions or cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SynthPeriod {
    /// So many instructions.
    Instructions(u64),
    /// So many ticks of the TSC.
    Ticks(u64),
    /// So many nanoseconds.
    Nanoseconds(u64),
}

impl SynthPeriod {
    /// The period where none is given.
    pub const DEFAULT: SynthPeriod = SynthPeriod::Nanoseconds(100_000);

    /// Every instruction is a sample.
    pub(crate) const fn is_every_instruction(self) -> bool {
        matches!(
            self,
            SynthPeriod::Nanoseconds(0) | SynthPeriod::Ticks(0) | SynthPeriod::Instructions(0 | 1)
        )
    }
}

/// Letters behind a `+` or `-`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Letters(u32);

impl Letters {
    /// True for a letter from a to z that is in.
    pub fn contains(self, letter: char) -> bool {
        Letters::bit(letter).is_some_and(|bit| self.0 & bit != 0)
    }

    fn insert(&mut self, letter: char) {
        self.0 |= Letters::bit(letter).unwrap_or(0);
    }

    fn bit(letter: char) -> Option<u32> {
        letter
            .is_ascii_lowercase()
            .then(|| 1 << (letter as u32 - 'a' as u32))
    }
}

/// The events whose samples are made of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventSelection {
    /// `i`: samples of instructions.
    pub instructions: bool,
    /// `y`: samples of cycles.
    pub cycles: bool,
    /// `b`: branches.
    pub branches: bool,
    /// `c`: of the branches the calls.
    pub calls: bool,
    /// `r`: of the branches the returns.
    pub returns: bool,
    /// `x`: transactions.
    pub transactions: bool,
    /// `w`: payloads of PTWRITE.
    pub ptwrites: bool,
    /// `p`: power and frequency.
    pub power: bool,
    /// `o`: samples of other events that went into the trace.
    pub other_events: bool,
    /// `I`: interrupts and the like.
    pub interrupts: bool,
}

impl EventSelection {
    /// No event.
    pub const NONE: EventSelection = EventSelection {
        instructions: false,
        cycles: false,
        branches: false,
        calls: false,
        returns: false,
        transactions: false,
        ptwrites: false,
        power: false,
        other_events: false,
        interrupts: false,
    };

    /// Everything that is rare.
    const RARE: EventSelection = EventSelection {
        transactions: true,
        ptwrites: true,
        power: true,
        other_events: true,
        interrupts: true,
        ..EventSelection::NONE
    };
}

/// The call chains and last branches of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackSelection {
    /// `g`: call chains on samples made of the trace.
    pub callchain: bool,
    /// `G`: call chains on recorded samples that have none.
    pub add_callchain: bool,
    /// Entries of a call chain.
    pub callchain_size: usize,
    /// `l`: last branches on samples made of the trace.
    pub last_branch: bool,
    /// `L`: last branches on recorded samples that have none.
    pub add_last_branch: bool,
    /// Entries of the last branches.
    pub last_branch_size: usize,
    /// Last branches are marked as predicted wrongly, whatever they were.
    pub mispredicted: bool,
    /// A stack of calls is kept for whoever shows the samples.
    pub thread_stack: bool,
}

impl StackSelection {
    /// Neither call chains nor branches; the sizes that hold where a letter gives none.
    pub const NONE: StackSelection = StackSelection {
        callchain: false,
        add_callchain: false,
        callchain_size: 16,
        last_branch: false,
        add_last_branch: false,
        last_branch_size: 64,
        mispredicted: false,
        thread_stack: false,
    };

    /// Most entries of call chains and last branches.
    pub const MAX_ENTRIES: usize = 1024;

    /// True when the calls of each thread must be followed.
    pub fn follows_calls(&self) -> bool {
        self.callchain || self.add_callchain || self.thread_stack
    }

    /// True when branches must be followed thread by thread.
    pub fn follows_branches(&self) -> bool {
        self.follows_calls() || self.last_branch || self.add_last_branch
    }
}

/// The errors of decoding that are reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ErrorSelection {
    /// `e`: errors are reported.
    pub shown: bool,
    /// Letters behind `e-`: `o` leaves overflows out, `l` lost data.
    pub without: Letters,
}

impl ErrorSelection {
    /// No error.
    pub const NONE: ErrorSelection = ErrorSelection {
        shown: false,
        without: Letters(0),
    };
}

/// The log of the decoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogSelection {
    /// `d`: a log is written.
    pub written: bool,
    /// Letters behind `d+`: `e` keeps only what led to errors, `o` puts the log among the samples, `a` logs records of
    /// all times.
    pub with: Letters,
    /// Letters behind `d-`: `a` logs no records.
    pub without: Letters,
    /// Bytes before an error that `d+e` keeps; `None` is 16 KiB.
    pub kept: Option<usize>,
}

impl LogSelection {
    /// No log.
    pub const NONE: LogSelection = LogSelection {
        written: false,
        with: Letters(0),
        without: Letters(0),
        kept: None,
    };
}

/// The request of `--itrace`: what is made of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItraceOptions {
    /// The events.
    pub events: EventSelection,
    /// The period of `i` and `y`.
    pub period: SynthPeriod,
    /// The call chains and last branches.
    pub stacks: StackSelection,
    /// The errors.
    pub errors: ErrorSelection,
    /// The log.
    pub log: LogSelection,
    /// `s`: samples to pass over at the beginning.
    pub skip: u64,
    /// `q`, once or more: how quick rather than complete.
    pub quick: u32,
    /// `A`: instructions per cycle at every time stamp.
    pub approximate_ipc: bool,
    /// `Z`: as if there were no time stamps.
    pub timeless: bool,
}

/// The only kind of samples of code that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SoleEvent {
    /// Every instruction.
    Instructions,
    /// Every branch that the filter takes.
    Branches,
}

impl ItraceOptions {
    /// Nothing is made.
    pub const NOTHING: ItraceOptions = ItraceOptions {
        events: EventSelection::NONE,
        period: SynthPeriod::DEFAULT,
        stacks: StackSelection::NONE,
        errors: ErrorSelection::NONE,
        log: LogSelection::NONE,
        skip: 0,
        quick: 0,
        approximate_ipc: false,
        timeless: false,
    };

    /// The letters that `script --itrace` without a value stands for.
    pub const SCRIPT_LETTERS: &'static str = "cxwpoIe";

    /// The letters that `--itrace` without a value stands for elsewhere.
    pub const ALL_LETTERS: &'static str = "iybxwpoIe";

    /// The choice of `script` where nothing is given: calls, errors and everything that is rare.
    pub const SCRIPT: ItraceOptions = ItraceOptions {
        events: EventSelection {
            branches: true,
            calls: true,
            ..EventSelection::RARE
        },
        period: SynthPeriod::Instructions(1),
        ..ItraceOptions::ERRORS
    };

    /// The choice of `report` where nothing is given: instructions and cycles, with their callers.
    pub const REPORT: ItraceOptions = ItraceOptions {
        events: EventSelection {
            instructions: true,
            cycles: true,
            ..EventSelection::RARE
        },
        stacks: StackSelection {
            callchain: true,
            add_callchain: true,
            ..StackSelection::NONE
        },
        ..ItraceOptions::ERRORS
    };

    const ERRORS: ItraceOptions = ItraceOptions {
        errors: ErrorSelection {
            shown: true,
            ..ErrorSelection::NONE
        },
        ..ItraceOptions::NOTHING
    };

    /// The one kind of samples of code that runs, if each of it is a sample and nothing has to be counted or followed.
    pub(crate) fn sole_event(&self) -> Option<SoleEvent> {
        let EventSelection {
            instructions,
            branches,
            cycles,
            ..
        } = self.events;
        let counts = self.skip > 0 || cycles || self.stacks.follows_branches();
        match (instructions, branches) {
            _ if counts => None,
            // Quick means all instructions that packets name, whatever the period.
            (true, false) if self.quick > 0 => Some(SoleEvent::Instructions),
            (false, true) if self.quick > 0 => None,
            (true, false) if self.period.is_every_instruction() => Some(SoleEvent::Instructions),
            (false, true) => Some(SoleEvent::Branches),
            _ => None,
        }
    }
}
