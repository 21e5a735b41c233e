//! A sink of branches that tells of calls.

use std::ops::ControlFlow;

use oxperf_abi::{Misc, PerfTime, Pid, RecordType, Tid};
use oxperf_analysis::calls::{
    Call, CallEnd, CallEvent, CallStep, Calls, Ended, Remarks, ThreadKey,
};
use oxperf_itrace::{ErrorSelection, EventSelection, ItraceOptions};
use oxperf_machine::{Machine, ThreadId};
use oxperf_resolve::SymbolSource;
use oxperf_session::{NoSink, SampleEvent, SidebandEvent, Sink};
use oxperf_wire::kernel::{Comm, TaskEvent};
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, Endian};

use crate::FunctionTable;

/// Is told of calls, in the order in which they begin and end. `Break` ends the session.
pub trait CallReceiver {
    /// A call begins; the machine is as it is then.
    fn entered(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        call: &Call,
    ) -> ControlFlow<()>;

    /// A call ends; those in it have ended before.
    fn left(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        ended: &Ended,
    ) -> ControlFlow<()>;

    /// What is told next follows from a branch or a record of this moment.
    fn moment(&mut self, _: Option<PerfTime>) {}

    /// A branch of a thread was followed, behind the calls that it began or ended.
    fn branched(&mut self, _: ThreadKey) {}

    /// A stretch of the trace could not be decoded.
    fn trace_error(&mut self) {}
}

/// The samples that calls are made of: every branch, and errors; of the options those count that choose times.
pub fn branches_only(given: ItraceOptions) -> ItraceOptions {
    ItraceOptions {
        events: EventSelection {
            branches: true,
            ..EventSelection::NONE
        },
        errors: ErrorSelection {
            shown: true,
            without: given.errors.without,
        },
        timeless: given.timeless,
        ..ItraceOptions::NOTHING
    }
}

/// Follows the branches of a session.
pub struct CallFollower<'s, R> {
    endian: Endian,
    calls: Calls,
    functions: FunctionTable<'s>,
    receiver: R,
    /// The calls that the last branch began or ended.
    events: Vec<CallEvent>,
}

impl<'s, R: CallReceiver> CallFollower<'s, R> {
    /// Follows a recording of this byte order; functions are named by `names`.
    pub fn new(endian: Endian, names: &'s dyn SymbolSource, receiver: R) -> CallFollower<'s, R> {
        CallFollower {
            endian,
            calls: Calls::default(),
            functions: FunctionTable::new(names),
            receiver,
            events: Vec::new(),
        }
    }

    /// The receiver, the functions that were met, and what was found beside calls.
    pub fn finish(self) -> (R, FunctionTable<'s>, Remarks) {
        let remarks = self.calls.remarks();
        (self.receiver, self.functions, remarks)
    }

    fn tell(&mut self, machine: &Machine) -> ControlFlow<()> {
        let events = std::mem::take(&mut self.events);
        let told = events.iter().try_for_each(|event| match event {
            CallEvent::Entered(call) => self.receiver.entered(machine, &self.functions, call),
            CallEvent::Left(ended) => self.receiver.left(machine, &self.functions, ended),
        });
        self.events = events;
        self.events.clear();
        told
    }

    /// Ends the calls of a thread.
    fn end_thread(&mut self, machine: &Machine, thread: ThreadId, end: CallEnd) -> ControlFlow<()> {
        let CallFollower {
            calls,
            functions,
            events,
            ..
        } = self;
        calls.end(
            thread,
            end,
            &mut functions.of(machine, thread),
            &mut |event| events.push(event),
        );
        self.tell(machine)
    }
}

impl<R: CallReceiver> Sink for CallFollower<'_, R> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let Some(traced) = event.traced else {
            return ControlFlow::Continue(());
        };
        let idle = machine.thread_info(event.thread).tid.0 == 0;
        let step = CallStep {
            thread: (event.thread, event.sample.cpu.filter(|_| idle)),
            queue: traced.progress.queue,
            stretch: traced.progress.stretch,
            time: event.sample.time,
            flags: traced.flags,
            from: event.sample.ip.filter(|ip| *ip != 0),
            to: event.sample.addr.filter(|addr| *addr != 0),
            length: traced.code.length,
            instructions: traced.progress.instructions,
            cycles: traced.progress.cycles,
        };
        let CallFollower {
            calls,
            functions,
            events,
            ..
        } = self;
        calls.step(
            &step,
            &mut functions.of(machine, event.thread),
            &mut |event| events.push(event),
        );
        if !self.events.is_empty() {
            self.receiver.moment(step.time);
            self.tell(machine)?;
        }
        self.receiver.branched(step.thread);
        ControlFlow::Continue(())
    }

    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let header = event.record.header;
        let cursor = &mut Cursor::new(event.record.body, self.endian);
        let (tid, end) = match header.kind {
            RecordType::EXIT => (
                TaskEvent::decode(cursor).ok().map(|task| task.tid),
                CallEnd::Exited,
            ),
            RecordType::COMM if header.misc.has(Misc::COMM_EXEC) => (
                Comm::decode(cursor).ok().map(|comm| comm.tid),
                CallEnd::Replaced,
            ),
            _ => return ControlFlow::Continue(()),
        };
        match tid.and_then(|tid| machine.find_thread(tid)) {
            Some(thread) => {
                self.receiver.moment(event.id.time);
                self.end_thread(machine, thread, end)
            }
            None => ControlFlow::Continue(()),
        }
    }

    fn trace_error(&mut self, _: &mut Machine, _: &AuxtraceError<'_>) -> ControlFlow<()> {
        self.receiver.trace_error();
        ControlFlow::Continue(())
    }

    fn end(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        let CallFollower {
            calls,
            functions,
            events,
            ..
        } = self;
        let idle = machine.thread(Pid(0), Tid(0));
        calls.finish(&mut functions.of(machine, idle), &mut |event| {
            events.push(event)
        });
        self.tell(machine)
    }
}
