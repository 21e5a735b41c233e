//! The calls that one thread is in.

use oxperf_abi::{PerfTime, SampleFlags};
use rustc_hash::FxHashMap;

use super::{
    Amounts, Around, Call, CallEnd, CallEvent, CallStep, Calls, Context, Ended, Entry, FunctionId,
    Functions, Remarks,
};

/// A call that goes on.
#[derive(Debug)]
struct Frame {
    call: Call,
    /// The function's addresses; none if no symbol tells them.
    addresses: std::ops::Range<u64>,
    /// Where it returns to; `None` if nobody saw it called.
    return_address: Option<u64>,
    /// Where control comes back when tracing stopped in this call.
    stopped_at: Option<u64>,
    /// What the thread had spent when it began.
    before: Amounts,
    /// What the calls in it spent.
    spent_below: Amounts,
    calls: u64,
}

/// The calls of a thread, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Thread {
    frames: Vec<Frame>,
    /// What the thread has spent, and the time it is.
    now: Amounts,
    timed: bool,
    /// Calls beyond the deepest that is followed.
    beyond: u64,
    /// How often each function is called at the moment.
    running: FxHashMap<FunctionId, u32>,
    /// The trace that told of it last.
    pub(super) queue: Option<u32>,
}

impl Thread {
    /// Makes sure that what ran up to a branch counts for a function.
    pub(super) fn place(&mut self, step: &CallStep, from: u64, context: &mut Context<'_>) {
        if self.frames.is_empty() {
            self.pass_to(step.time);
            self.appear(step, from, context);
        }
    }

    /// Counts what ran.
    pub(super) fn spend(&mut self, ran: Amounts, remarks: &mut Remarks) {
        if self.frames.is_empty() {
            remarks.unplaced += ran.instructions;
        }
        self.now += ran;
    }

    /// Takes the time.
    pub(super) fn pass_to(&mut self, time: Option<PerfTime>) {
        let time = time.map(|time| time.0);
        self.timed |= time.is_some();
        self.now.time = self.now.time.max(time.unwrap_or(0));
    }

    /// Follows a branch.
    pub(super) fn follow(&mut self, step: &CallStep, context: &mut Context<'_>) {
        use SampleFlags as F;
        let flags = step.flags;
        let begins = flags.contains(F::TRACE_BEGIN);
        let Some(to) = step.to.filter(|_| begins || !flags.contains(F::TRACE_END)) else {
            return self.stop(step, context);
        };
        if begins {
            self.begin(step, to, context);
        } else if flags.contains(F::CALL) {
            self.call(step, to, context);
        } else if flags.contains(F::RETURN) {
            self.return_to(step, to, context);
        } else {
            self.jump(step, to, context);
        }
    }

    /// Tracing stops; mostly it goes on at the same place.
    fn stop(&mut self, step: &CallStep, context: &mut Context<'_>) {
        if step.flags.contains(SampleFlags::RETURN) {
            return self.leave_top(context);
        }
        if let Some(top) = self.frames.last_mut() {
            top.stopped_at = if step.flags.contains(SampleFlags::ASYNC) {
                step.from
            } else {
                behind(step).filter(|_| step.flags.contains(SampleFlags::CALL))
            };
        }
    }

    fn begin(&mut self, step: &CallStep, to: u64, context: &mut Context<'_>) {
        if self.frames.is_empty() {
            return self.appear(step, to, context);
        }
        if let Some(index) = self.find(|frame| frame.stopped_at == Some(to)) {
            self.unwind(index + 1, CallEnd::Unwound, context);
            return self.frames[index].stopped_at = None;
        }
        if self.returned_to(to, context) {
            return;
        }
        let around = context.functions.around(to);
        match around {
            Some(around) if around.start == to => {
                let parts = (
                    around.function,
                    around.start..around.end,
                    Entry::Interrupted,
                    None,
                );
                self.push(step, parts, context);
            }
            Some(around) => match self.find(|frame| frame.call.function == around.function) {
                Some(index) => self.unwind(index + 1, CallEnd::Unwound, context),
                None => self.appear(step, to, context),
            },
            None => {}
        }
    }

    fn call(&mut self, step: &CallStep, to: u64, context: &mut Context<'_>) {
        let interrupts = step.flags.contains(SampleFlags::ASYNC);
        let return_address = if interrupts { step.from } else { behind(step) };
        if return_address == Some(to) {
            // A call of the next instruction only asks where it is.
            return;
        }
        let (function, addresses) = entered(to, context.functions);
        let entry = if interrupts {
            Entry::Interrupted
        } else {
            Entry::Called
        };
        self.push(step, (function, addresses, entry, return_address), context);
    }

    fn return_to(&mut self, step: &CallStep, to: u64, context: &mut Context<'_>) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if self.returned_to(to, context) {
            return;
        }
        let around = context.functions.around(to);
        let inside = around.filter(|around| around.start != to);
        if let Some(around) = inside
            && let Some(index) = self.find_below(|frame| frame.call.function == around.function)
        {
            return self.unwind(index + 1, CallEnd::Unwound, context);
        }
        self.leave_top(context);
        let stays = self.frames.last().is_some_and(|top| {
            around.is_none_or(|around| around.function == top.call.function && inside.is_some())
        });
        if !stays {
            self.appear(step, to, context);
        }
    }

    /// Goes back to where a call was made from; false if it was made nowhere known.
    fn returned_to(&mut self, to: u64, context: &mut Context<'_>) -> bool {
        let Some(index) = self.find(|frame| frame.return_address == Some(to)) else {
            return false;
        };
        // Functions that were jumped to return for the one that was called.
        self.unwind(index + 1, CallEnd::Returned, context);
        self.pop(CallEnd::Returned, context);
        true
    }

    fn jump(&mut self, step: &CallStep, to: u64, context: &mut Context<'_>) {
        let Some(top) = self.frames.last() else {
            return;
        };
        if top.addresses.contains(&to) {
            return;
        }
        let Some(around) = context.functions.around(to) else {
            return;
        };
        if around.function == top.call.function {
            return;
        }
        if around.start == to {
            return self.jump_to_function(step, around, context);
        }
        if let Some(index) = self.find_below(|frame| frame.call.function == around.function) {
            self.unwind(index + 1, CallEnd::Jumped, context);
        }
    }

    fn jump_to_function(&mut self, step: &CallStep, around: Around, context: &mut Context<'_>) {
        if self.frames.last().is_some_and(is_jumped) {
            self.pop(CallEnd::Jumped, context);
        }
        let parts = (
            around.function,
            around.start..around.end,
            Entry::Jumped,
            None,
        );
        self.push(step, parts, context);
    }

    /// A call that goes on already when the trace first shows it.
    fn appear(&mut self, step: &CallStep, at: u64, context: &mut Context<'_>) {
        let (function, addresses) = entered(at, context.functions);
        self.push(step, (function, addresses, Entry::Unseen, None), context);
    }

    fn push(
        &mut self,
        step: &CallStep,
        (function, addresses, entry, return_address): (
            FunctionId,
            std::ops::Range<u64>,
            Entry,
            Option<u64>,
        ),
        context: &mut Context<'_>,
    ) {
        if self.frames.len() == Calls::DEEPEST {
            context.remarks.too_deep += 1;
            self.beyond += u64::from(entry == Entry::Called);
            return;
        }
        *context.begun += 1;
        let running = self.running.entry(function).or_default();
        let call = Call {
            number: *context.begun,
            parent: self.frames.last().map(|frame| frame.call.number),
            depth: self.frames.len() as u32,
            thread: step.thread,
            function,
            recursive: *running > 0,
            entry,
            entered: self.timed.then_some(PerfTime(self.now.time)),
        };
        *running += 1;
        self.frames.push(Frame {
            call,
            addresses,
            return_address,
            stopped_at: None,
            before: self.now,
            spent_below: Amounts::default(),
            calls: 0,
        });
        (context.tell)(CallEvent::Entered(call));
    }

    fn pop(&mut self, end: CallEnd, context: &mut Context<'_>) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let total = self.now - frame.before;
        if let Some(parent) = self.frames.last_mut() {
            parent.spent_below += total;
            parent.calls += frame.calls + 1;
        }
        if let Some(running) = self.running.get_mut(&frame.call.function) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&frame.call.function);
            }
        }
        let (own, calls) = (total - frame.spent_below, frame.calls);
        let left = self.timed.then_some(PerfTime(self.now.time));
        (context.tell)(CallEvent::Left(Ended {
            call: frame.call,
            end,
            left,
            total,
            own,
            calls,
        }));
    }

    /// The innermost call returns, wherever to, and with it the one that it was jumped to from.
    fn leave_top(&mut self, context: &mut Context<'_>) {
        while self.frames.last().is_some_and(is_jumped) {
            self.pop(CallEnd::Returned, context);
        }
        let seen = self
            .frames
            .last()
            .is_some_and(|top| top.return_address.is_some());
        self.pop(
            if seen {
                CallEnd::Unwound
            } else {
                CallEnd::Returned
            },
            context,
        );
    }

    /// Leaves calls until so many are left. `jumped` is how those end that all were jumped to.
    fn unwind(&mut self, left: usize, jumped: CallEnd, context: &mut Context<'_>) {
        let jumped = if self.frames.iter().skip(left).all(is_jumped) {
            jumped
        } else {
            CallEnd::Unwound
        };
        while self.frames.len() > left {
            let entry = self.frames.last().map(|top| top.call.entry);
            let end = match entry {
                Some(Entry::Jumped) => jumped,
                Some(Entry::Interrupted) => CallEnd::Returned,
                _ => CallEnd::Unwound,
            };
            self.pop(end, context);
        }
    }

    /// Ends everything.
    pub(super) fn end_all(&mut self, end: CallEnd, context: &mut Context<'_>) {
        while !self.frames.is_empty() {
            self.pop(end, context);
        }
        self.beyond = 0;
    }

    fn find(&self, fits: impl Fn(&Frame) -> bool) -> Option<usize> {
        let searched = self.frames.iter().enumerate().rev().take(Calls::SEARCHED);
        searched
            .into_iter()
            .find(|(_, frame)| fits(frame))
            .map(|(index, _)| index)
    }

    /// The same among those that the innermost call is in.
    fn find_below(&self, fits: impl Fn(&Frame) -> bool) -> Option<usize> {
        let searched = self
            .frames
            .iter()
            .enumerate()
            .rev()
            .skip(1)
            .take(Calls::SEARCHED);
        searched
            .into_iter()
            .find(|(_, frame)| fits(frame))
            .map(|(index, _)| index)
    }
}

fn is_jumped(frame: &Frame) -> bool {
    frame.call.entry == Entry::Jumped
}

/// The address behind the branching instruction; its own where its length is not known.
fn behind(step: &CallStep) -> Option<u64> {
    let length = step.length.map_or(0, |length| u64::from(length.get()));
    Some(step.from?.wrapping_add(length))
}

/// The function that is entered at an address.
fn entered(at: u64, functions: &mut dyn Functions) -> (FunctionId, std::ops::Range<u64>) {
    match functions.around(at) {
        Some(around) => (around.function, around.start..around.end),
        None => (functions.nameless(at), at..at),
    }
}
