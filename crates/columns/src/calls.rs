//! The calls of a hardware trace, as rows.

use std::ops::ControlFlow;

use oxperf_abi::PerfTime;
use oxperf_analysis::calls::{Call, CallEnd, Ended, Entry, FunctionId, ThreadKey};
use oxperf_calls::{CallFollower, CallReceiver, FunctionTable, NamedFunction, branches_only};
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_profile::FrameId;
use oxperf_query::{Filter, TraceOptions};
use oxperf_resolve::SymbolSource;
use rustc_hash::FxHashMap;

use crate::error::ColumnsError;
use crate::recording::RecordingFacts;
use crate::rows::{TableCell, TableRows};
use crate::samples::{ROW_GROUP, RowSink};
use crate::schema::CALLS;
use crate::stack_id::StackId;
use crate::stacks::{FrameAddress, FrameNames, FrameText, StackTable};
use crate::tables::{TableOptions, TableWalkError};

/// perf's flags of a call.
const NO_CALL: i64 = 1;
const NO_RETURN: i64 = 2;
const NON_CALL: i64 = 4;

/// Makes rows of the calls of a recording's hardware trace and of their stacks, in a walk of its own. Returns the sink and the
/// number of calls.
///
/// # Errors
/// It cannot be read to its end, or the sink takes no more.
pub fn write_calls<T: RowSink>(
    reader: &Reader<'_>,
    facts: &RecordingFacts,
    names: &dyn SymbolSource,
    options: &TableOptions<'_>,
    sink: T,
) -> Result<(u64, T), TableWalkError> {
    let mut walk = options.start(reader);
    let Some(trace) = options.trace else {
        return Ok((0, sink));
    };
    let trace = TraceOptions {
        itrace: branches_only(trace.itrace),
        ..trace
    };
    if !walk.decode_trace(trace, options.filter)? {
        return Ok((0, sink));
    }
    // A call's stack and counts follow from all that comes before it.
    walk.skip_trace_outside(options.filter, true);
    let writer = CallRows {
        recording_id: facts.id,
        filter: options.filter,
        max_stack: options.max_stack,
        rows: TableRows::new(&CALLS, |_| true),
        stacks: StackTable::new(options.stacks.unwrap_or_default()),
        threads: FxHashMap::default(),
        now: None,
        path: Vec::new(),
        count: 0,
        out: sink,
        failure: None,
    };
    let mut follower = CallFollower::new(reader.endian(), names, writer);
    walk.run(&mut follower)?;
    let (mut writer, ..) = follower.finish();
    writer.hand_on()?;
    match writer.failure {
        Some(failure) => Err(failure.into()),
        None => Ok((writer.count, writer.out)),
    }
}

/// Makes rows of calls as they end.
struct CallRows<'o, T> {
    recording_id: i64,
    filter: &'o Filter,
    max_stack: usize,
    rows: TableRows,
    stacks: StackTable,
    threads: FxHashMap<ThreadKey, OpenCalls>,
    /// The moment of what is told.
    now: Option<PerfTime>,
    /// The stack that is numbered.
    path: Vec<FrameId>,
    count: u64,
    out: T,
    failure: Option<ColumnsError>,
}

/// The calls that a thread is in.
#[derive(Debug, Default)]
struct OpenCalls {
    calls: Vec<OpenCall>,
    branches: u64,
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
struct OpenCall {
    function: FunctionId,
    stack: StackId,
    /// The thread's branches before it.
    branches: u64,
}

impl FrameNames for FunctionTable<'_> {
    fn text(&self, id: FrameId, _: bool) -> FrameText<'_> {
        let NamedFunction {
            name,
            short_object,
            is_named,
            ..
        } = self.function(FunctionId(id.0));
        FrameText {
            symbol: match is_named {
                true => name.as_str().into(),
                false => FrameText::of_object(short_object).into(),
            },
            dso: short_object,
            mode: None,
            line: None,
            inlined: false,
            is_named: *is_named,
        }
    }

    fn address(&self, _: FrameId) -> FrameAddress {
        FrameAddress::default()
    }
}

impl<T: RowSink> CallRows<'_, T> {
    fn enter(&mut self, functions: &FunctionTable<'_>, call: &Call) -> Result<(), ColumnsError> {
        let open = self.threads.entry(call.thread).or_default();
        let callers = open.calls.iter().rev().map(|call| FrameId(call.function.0));
        self.path.clear();
        self.path.push(FrameId(call.function.0));
        self.path
            .extend(callers.take(self.max_stack.saturating_sub(1)));
        let stack = self.stacks.id_of(&self.path, functions)?;
        open.calls.push(OpenCall {
            function: call.function,
            stack,
            branches: open.branches,
        });
        Ok(())
    }

    fn leave(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        ended: &Ended,
    ) -> Result<(), ColumnsError> {
        let Some(open) = self.threads.get_mut(&ended.call.thread) else {
            return Ok(());
        };
        let Some(call) = open.calls.pop() else {
            return Ok(());
        };
        let thread = ended.call.thread.0;
        let moment = moment_of(ended, self.now);
        if !self
            .filter
            .takes_moment(machine, ended.call.thread.0, moment)
        {
            return Ok(());
        }
        let parent = open.calls.last().map(|parent| parent.stack.0);
        let branches = open.branches.saturating_sub(call.branches);
        let info = machine.thread_info(thread);
        let text = functions.text(FrameId(call.function.0), false);
        let time = |time: Option<PerfTime>| TableCell::from(time.map(|time| time.0.cast_signed()));
        let spent = ended.total;
        let counted = |count: u64| Some(count.cast_signed()).filter(|_| spent.instructions > 0);
        let cycles = Some(spent.cycles.cast_signed()).filter(|cycles| *cycles > 0);
        self.rows.push(&[
            TableCell::Int(self.recording_id),
            info.pid.map(|pid| i64::from(pid.0)).into(),
            TableCell::Int(info.tid.0.into()),
            TableCell::Text(machine.comm_of(thread)),
            time(ended.call.entered),
            time(ended.left),
            TableCell::Text(&text.symbol),
            TableCell::Text(text.dso),
            TableCell::Int(call.stack.0),
            parent.into(),
            TableCell::Int(branches.cast_signed()),
            counted(spent.instructions).into(),
            cycles.into(),
            TableCell::Int(flags(ended)),
        ]);
        self.count += 1;
        match self.rows.len() >= ROW_GROUP {
            true => self.hand_on(),
            false => Ok(()),
        }
    }

    fn hand_on(&mut self) -> Result<(), ColumnsError> {
        if !self.stacks.rows().is_empty() {
            self.out.take(self.stacks.rows())?;
            self.stacks.clear_rows();
        }
        if !self.rows.is_empty() {
            self.out.take(&self.rows)?;
            self.rows.clear();
            self.rows.forget_texts();
        }
        Ok(())
    }

    fn note(&mut self, done: Result<(), ColumnsError>) -> ControlFlow<()> {
        match done {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

impl<T: RowSink> CallReceiver for CallRows<'_, T> {
    fn entered(
        &mut self,
        _: &Machine,
        functions: &FunctionTable<'_>,
        call: &Call,
    ) -> ControlFlow<()> {
        let done = self.enter(functions, call);
        self.note(done)
    }

    fn left(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        ended: &Ended,
    ) -> ControlFlow<()> {
        let done = self.leave(machine, functions, ended);
        self.note(done)
    }

    fn moment(&mut self, now: Option<PerfTime>) {
        self.now = now;
    }

    fn branched(&mut self, thread: ThreadKey) {
        self.threads.entry(thread).or_default().branches += 1;
    }
}

/// The moment at which a call counts: `now`, when its end is known, so that it is in one part of a recording. What is open
/// where the trace ends is of the part that ends with all time.
fn moment_of(ended: &Ended, now: Option<PerfTime>) -> Option<PerfTime> {
    match ended.end {
        CallEnd::Open => Some(PerfTime(u64::MAX)),
        _ => now.or(ended.left).or(ended.call.entered),
    }
}

fn flags(ended: &Ended) -> i64 {
    let entry = match ended.call.entry {
        Entry::Called => 0,
        Entry::Jumped | Entry::Interrupted => NON_CALL,
        Entry::Unseen => NO_CALL,
    };
    match ended.end {
        CallEnd::Returned => entry,
        _ => entry | NO_RETURN,
    }
}
