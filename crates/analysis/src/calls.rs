//! The calls that threads made, one after another, as hardware trace tells them by its branches.
//!
//! For whoever wants to know what a program did in its order and what each call cost: branches go in, beginnings and
//! ends of calls come out, with the time, instructions and cycles between. Instructions are those of the trace, none
//! is guessed: what the calls of a thread spent themselves adds up to what the thread ran.
//!
//! Programs do not only call and return. A jump to the beginning of another function is a call in place of the one
//! that jumped; a jump or return into an outer function unwinds what was called from there (`longjmp`, exceptions);
//! where tracing goes on at the beginning of a function, that is a handler of a signal, until tracing goes on where it
//! had stopped. A gap in the trace ends every call of the thread that ran there: nobody knows what became of them.

mod thread;
pub mod totals;

use std::num::NonZeroU8;
use std::ops::{AddAssign, Sub};

use oxperf_abi::{Cpu, PerfTime, SampleFlags};
use oxperf_machine::ThreadId;
use rustc_hash::FxHashMap;

use thread::Thread;

/// The number of a function, given by [`Functions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionId(pub u32);

/// The function that a symbol around an address stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Around {
    /// Which.
    pub function: FunctionId,
    /// Its first address, in the address space of the thread.
    pub start: u64,
    /// The address behind it.
    pub end: u64,
}

/// Knows where functions are in the thread whose branch is followed.
pub trait Functions {
    /// The function around an address; `None` where no symbol is known.
    fn around(&mut self, address: u64) -> Option<Around>;
    /// The function that begins at an address without a symbol, since it was called there.
    fn nameless(&mut self, address: u64) -> FunctionId;
}

/// A thread; of the idle one there is one on every CPU.
pub type ThreadKey = (ThreadId, Option<Cpu>);

/// A branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallStep {
    /// Who ran.
    pub thread: ThreadKey,
    /// Which trace tells it: counts belong to it.
    pub queue: u32,
    /// Changes with every gap in this trace.
    pub stretch: u64,
    /// When.
    pub time: Option<PerfTime>,
    /// What it was.
    pub flags: SampleFlags,
    /// The branching instruction; `None` where tracing begins.
    pub from: Option<u64>,
    /// Where it went; `None` where tracing ends.
    pub to: Option<u64>,
    /// Number of bytes of the branching instruction; `None` where it is not known.
    pub length: Option<NonZeroU8>,
    /// Instructions that this trace told so far, with the branching one.
    pub instructions: u64,
    /// Cycles that this trace told so far.
    pub cycles: u64,
}

/// What was spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amounts {
    /// ns.
    pub time: u64,
    /// Instructions.
    pub instructions: u64,
    /// Cycles; 0 if none were counted.
    pub cycles: u64,
}

impl Sub for Amounts {
    type Output = Amounts;
    fn sub(self, other: Amounts) -> Amounts {
        Amounts {
            time: self.time.saturating_sub(other.time),
            instructions: self.instructions.saturating_sub(other.instructions),
            cycles: self.cycles.saturating_sub(other.cycles),
        }
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Amounts) {
        self.time = self.time.saturating_add(other.time);
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.cycles = self.cycles.saturating_add(other.cycles);
    }
}

/// How a call began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A call.
    Called,
    /// A jump from the function before.
    Jumped,
    /// An interrupt, or a handler of a signal.
    Interrupted,
    /// Before the trace shows it.
    Unseen,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEnd {
    /// It returned.
    Returned,
    /// It jumped into another function, which returns in its place.
    Jumped,
    /// An outer function went on without its return.
    Unwound,
    /// The program was replaced by another.
    Replaced,
    /// The thread ended.
    Exited,
    /// Trace was lost while it ran.
    Lost,
    /// The trace ends while it runs.
    Open,
}

impl CallEnd {
    /// True if the call may have gone on unseen.
    pub fn is_unseen(self) -> bool {
        matches!(self, CallEnd::Lost | CallEnd::Open)
    }
}

/// A call that began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// Counts calls from 1, in the order in which they began.
    pub number: u64,
    /// The call that it was made in.
    pub parent: Option<u64>,
    /// How many calls it is in.
    pub depth: u32,
    /// Whose.
    pub thread: ThreadKey,
    /// What was called.
    pub function: FunctionId,
    /// True if it is in a call of the same function.
    pub recursive: bool,
    /// How it began.
    pub entry: Entry,
    /// When.
    pub entered: Option<PerfTime>,
}

/// A call that ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The call.
    pub call: Call,
    /// How it ended.
    pub end: CallEnd,
    /// When.
    pub left: Option<PerfTime>,
    /// What it spent with all that it called.
    pub total: Amounts,
    /// What it spent itself.
    pub own: Amounts,
    /// Calls made in it, and in these.
    pub calls: u64,
}

/// What happens to calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEvent {
    /// One begins.
    Entered(Call),
    /// One ends; those in it have ended before.
    Left(Ended),
}

/// What was found beside calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Remarks {
    /// Instructions of which no branch tells the function.
    pub unplaced: u64,
    /// Calls deeper than [`Calls::DEEPEST`], counted as part of the one that they were made in.
    pub too_deep: u64,
    /// Gaps at which calls were given up.
    pub gaps: u64,
}

/// How far a trace has been followed.
#[derive(Clone, Copy, Debug)]
struct Queue {
    thread: ThreadKey,
    stretch: u64,
    instructions: u64,
    cycles: u64,
}

/// Follows the calls of all threads.
#[derive(Debug, Default)]
pub struct Calls {
    threads: FxHashMap<ThreadKey, Thread>,
    queues: FxHashMap<u32, Queue>,
    begun: u64,
    remarks: Remarks,
}

impl Calls {
    /// Calls in calls that are followed.
    pub const DEEPEST: usize = 1 << 17;
    /// Calls that are looked through, from the innermost, for one that control came back to.
    pub const SEARCHED: usize = 1 << 12;

    /// Follows a branch and tells what it does to calls.
    pub fn step(
        &mut self,
        step: &CallStep,
        functions: &mut dyn Functions,
        tell: &mut dyn FnMut(CallEvent),
    ) {
        let (instructions, cycles) = (step.instructions, step.cycles);
        let (thread, stretch) = (step.thread, step.stretch);
        let now = Queue {
            thread,
            stretch,
            instructions,
            cycles,
        };
        let before = self.queues.insert(step.queue, now);
        let before = before.unwrap_or(Queue {
            thread,
            stretch,
            instructions: 0,
            cycles: 0,
        });
        let gap = before.stretch != step.stretch;
        let ran = Amounts {
            time: 0,
            instructions,
            cycles,
        } - Amounts {
            time: 0,
            instructions: before.instructions,
            cycles: before.cycles,
        };
        // What ran before tracing began again was that of who had run before.
        let from = step.from.filter(|_| !gap);
        let runner = if from.is_none() {
            before.thread
        } else {
            step.thread
        };
        let (begun, remarks) = (&mut self.begun, &mut self.remarks);
        let mut context = Context {
            functions,
            tell,
            begun,
            remarks,
        };
        let ran_thread = self.threads.entry(runner).or_default();
        if let Some(from) = from {
            ran_thread.place(step, from, &mut context);
        }
        ran_thread.spend(ran, context.remarks);
        if gap && ran_thread.queue == Some(step.queue) {
            context.remarks.gaps += 1;
            ran_thread.end_all(CallEnd::Lost, &mut context);
        }
        let thread = self.threads.entry(step.thread).or_default();
        thread.queue = Some(step.queue);
        thread.pass_to(step.time);
        thread.follow(step, &mut context);
    }

    /// Ends the calls of a thread.
    pub fn end(
        &mut self,
        thread: ThreadId,
        end: CallEnd,
        functions: &mut dyn Functions,
        tell: &mut dyn FnMut(CallEvent),
    ) {
        let Calls {
            threads,
            begun,
            remarks,
            ..
        } = self;
        let mut context = Context {
            functions,
            tell,
            begun,
            remarks,
        };
        if let Some(ended) = threads.get_mut(&(thread, None)) {
            ended.end_all(end, &mut context);
        }
    }

    /// Ends what still runs at the end of the trace.
    pub fn finish(&mut self, functions: &mut dyn Functions, tell: &mut dyn FnMut(CallEvent)) {
        let Calls {
            threads,
            begun,
            remarks,
            ..
        } = self;
        let mut context = Context {
            functions,
            tell,
            begun,
            remarks,
        };
        let mut open: Vec<(&ThreadKey, &mut Thread)> = threads.iter_mut().collect();
        open.sort_unstable_by_key(|(key, _)| (key.0.0, key.1.map(|cpu| cpu.0)));
        open.into_iter()
            .for_each(|(_, thread)| thread.end_all(CallEnd::Open, &mut context));
    }

    /// What was found beside calls, so far.
    pub fn remarks(&self) -> Remarks {
        self.remarks
    }
}

/// What a thread needs to follow a branch.
struct Context<'a> {
    functions: &'a mut dyn Functions,
    tell: &'a mut dyn FnMut(CallEvent),
    begun: &'a mut u64,
    remarks: &'a mut Remarks,
}

#[cfg(test)]
mod tests;
