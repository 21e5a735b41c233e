//! What `--itrace` asks for, as values.

mod grammar;

pub use grammar::OptionsError;

/// Every how much a sample of instructions or cycles is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Period {
    /// Every so many instructions.
    Instructions(u64),
    /// Every so many ticks of the TSC.
    Ticks(u64),
    /// Every so many nanoseconds.
    Nanoseconds(u64),
}

impl Period {
    /// What holds when no period is given.
    pub const DEFAULT: Period = Period::Nanoseconds(100_000);
}

/// Letters behind a `+` or `-`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Letters(u32);

impl Letters {
    /// Whether a letter from a to z is in.
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

/// What is made of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItraceOptions {
    /// `i`: samples of instructions.
    pub instructions: bool,
    /// `y`: samples of cycles.
    pub cycles: bool,
    /// The period of `i` and `y`.
    pub period: Period,
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
    /// `e`: errors.
    pub errors: bool,
    /// Letters behind `e-`: `o` leaves overflows out, `l` lost data.
    pub errors_without: Letters,
    /// `d`: a log of the decoding.
    pub log: bool,
    /// Letters behind `d+`.
    pub log_with: Letters,
    /// Letters behind `d-`.
    pub log_without: Letters,
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
    /// `s`: samples to pass over at the beginning.
    pub skip: u64,
    /// `q`, once or more: how quick rather than complete.
    pub quick: u32,
    /// `A`: instructions per cycle at every time stamp.
    pub approximate_ipc: bool,
    /// `Z`: as if there were no time stamps.
    pub timeless: bool,
    /// Whether a stack of calls is kept for whoever shows the samples.
    pub thread_stack: bool,
}

/// The only kind of samples of code that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alone {
    /// Every instruction.
    Instructions,
    /// Every branch that the filter takes.
    Branches,
}

impl ItraceOptions {
    /// Most entries of call chains and last branches.
    pub const MOST_ENTRIES: usize = 1024;

    /// Nothing asked for.
    pub const NOTHING: ItraceOptions = ItraceOptions {
        instructions: false,
        cycles: false,
        period: Period::DEFAULT,
        branches: false,
        calls: false,
        returns: false,
        transactions: false,
        ptwrites: false,
        power: false,
        other_events: false,
        interrupts: false,
        errors: false,
        errors_without: Letters(0),
        log: false,
        log_with: Letters(0),
        log_without: Letters(0),
        callchain: false,
        add_callchain: false,
        callchain_size: 16,
        last_branch: false,
        add_last_branch: false,
        last_branch_size: 64,
        skip: 0,
        quick: 0,
        approximate_ipc: false,
        timeless: false,
        thread_stack: false,
    };

    /// The letters that `script --itrace` without a value stands for.
    pub const SCRIPT_LETTERS: &'static str = "cxwpoIe";

    /// The letters that `--itrace` without a value stands for elsewhere.
    pub const ALL_LETTERS: &'static str = "iybxwpoIe";

    /// What `script` shows of its own accord: calls, errors and everything that is rare.
    pub const SCRIPT: ItraceOptions = ItraceOptions {
        branches: true,
        calls: true,
        period: Period::Instructions(1),
        ..ItraceOptions::RARE
    };

    /// What `report` counts of its own accord: instructions and cycles, with their callers.
    pub const REPORT: ItraceOptions = ItraceOptions {
        instructions: true,
        cycles: true,
        callchain: true,
        add_callchain: true,
        ..ItraceOptions::RARE
    };

    const RARE: ItraceOptions = ItraceOptions {
        transactions: true,
        ptwrites: true,
        power: true,
        other_events: true,
        interrupts: true,
        errors: true,
        ..ItraceOptions::NOTHING
    };

    /// What is sampled of code that runs, if it is one kind, each of it, and nothing has to be counted or followed for it.
    pub(crate) fn shown_alone(&self) -> Option<Alone> {
        let counts = self.skip > 0 || self.cycles || self.follows_branches();
        match (self.instructions, self.branches) {
            _ if counts => None,
            // Quick means all instructions that packets name, whatever the period.
            (true, false) if self.quick > 0 => Some(Alone::Instructions),
            (false, true) if self.quick > 0 => None,
            (true, false) if self.samples_every_instruction() => Some(Alone::Instructions),
            (false, true) => Some(Alone::Branches),
            _ => None,
        }
    }

    const fn samples_every_instruction(&self) -> bool {
        matches!(
            self.period,
            Period::Nanoseconds(0) | Period::Ticks(0) | Period::Instructions(0 | 1)
        )
    }

    /// Whether the calls of each thread must be followed.
    pub fn follows_calls(&self) -> bool {
        self.callchain || self.add_callchain || self.thread_stack
    }

    /// Whether branches must be followed thread by thread.
    pub fn follows_branches(&self) -> bool {
        self.follows_calls() || self.last_branch || self.add_last_branch
    }
}
