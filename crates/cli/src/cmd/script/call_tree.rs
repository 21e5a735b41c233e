//! `script --call-tree`: what was called when and what it cost, from hardware trace.

mod functions;
mod shown;

use std::io;
use std::ops::ControlFlow;

use clap::{Arg, ArgMatches};
use oxperf_abi::{Misc, Pid, RecordType, Tid};
use oxperf_analysis::calls::totals::Totals;
use oxperf_analysis::calls::{Call, CallEnd, CallEvent, CallStep, Calls, Ended, Entry, ThreadKey};
use oxperf_data::Reader;
use oxperf_itrace::{ErrorSelection, EventSelection, ItraceOptions};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::call_tree::{self as text, Caller, Summary, json, table};
use oxperf_resolve::SymbolSource;
use oxperf_session::{NoSink, SampleEvent, Session, SidebandEvent, Sink};
use oxperf_wire::kernel::{Comm, TaskEvent};
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, Endian};

use super::filter::Filter;
use super::symbols::Symbols;
use crate::failure::{Failure, code};
use crate::guests;
use crate::input::{Input, report_trouble};
use crate::itrace::{self, Decoding};
use crate::output::Output;
use functions::FunctionTable;
use shown::{Lines, Shown};

/// The option.
pub(super) fn argument() -> Arg {
    Arg::new("call-tree")
        .long("call-tree")
        .value_name("WORDS")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help("Show the calls in hardware trace, each with its time, instructions and cycles: depth:N folds what is deeper, functions adds up by function, json is for programs")
}

/// How the calls are to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Form {
    /// Calls in so many calls are counted in those.
    deepest: Option<u32>,
    by_function: bool,
    json: bool,
}

impl Form {
    fn parse(text: &str) -> Option<Form> {
        let mut form = Form::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            match (word, word.strip_prefix("depth:")) {
                ("functions", _) => form.by_function = true,
                ("json", _) => form.json = true,
                (_, Some(depth)) => {
                    form.deepest = Some(depth.parse().ok().filter(|depth| *depth > 0)?)
                }
                _ => return None,
            }
        }
        (form.deepest.is_none() || !form.by_function).then_some(form)
    }
}

/// What is made of the trace: every branch, and errors; what the options say of time holds.
fn itrace_options(matches: &ArgMatches) -> Result<Option<ItraceOptions>, Failure> {
    let given = itrace::options(matches, ItraceOptions::NOTHING)?;
    Ok(given.map(|given| ItraceOptions {
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
    }))
}

/// Runs `script --call-tree`.
pub(super) fn run(
    matches: &ArgMatches,
    (input, reader): (&Input, &Reader<'_>),
    output: Output,
    names: &dyn SymbolSource,
) -> Result<i32, Failure> {
    let words = matches
        .get_one::<String>("call-tree")
        .map_or("", String::as_str);
    let form = Form::parse(words).ok_or_else(|| {
        Failure::bad_option(format!(
            "--call-tree: '{words}' is none of depth:N, functions, json or several with commas (not depth:N with functions)"
        ))
    })?;
    let filter = Filter::from_matches(matches, reader)?;
    let progress = input.progress(true);
    let mut session = Session::new(reader)
        .keeping_exited_threads()
        .observed_by(&progress)
        .knowing_guests(&guests::known(matches));
    let takes_cpu = |cpu| filter.takes_cpu(Some(cpu));
    let decoding = Decoding::prepare(
        matches,
        itrace_options(matches)?,
        (input, reader),
        &mut session,
        &takes_cpu,
    )?;
    let decoding = decoding.ok_or_else(|| {
        Failure::new(format!(
            "{}: no Intel PT trace in it to show calls of",
            input.path().display()
        ))
    })?;
    let mut sink = Timeline {
        endian: reader.endian(),
        calls: Calls::default(),
        functions: FunctionTable::new(names),
        events: Vec::new(),
        teller: Teller {
            output,
            form,
            shown: Shown::new(filter, Symbols::from_matches(matches)),
            lines: Lines::default(),
            totals: Totals::default(),
            summary: Summary::default(),
            timed: false,
            failed: None,
        },
    };
    sink.teller.begin();
    let finished = decoding.run(session, (input, reader), &mut sink)?;
    drop(progress);
    let Timeline {
        calls,
        functions,
        mut teller,
        ..
    } = sink;
    teller.summary.remarks = calls.remarks();
    teller.finish(&functions)?;
    report_trouble(&finished.diagnostics);
    Ok(code::SUCCESS)
}

/// Follows the branches of a session.
struct Timeline<'s> {
    endian: Endian,
    calls: Calls,
    functions: FunctionTable<'s>,
    teller: Teller,
    /// What the last branch did to calls.
    events: Vec<CallEvent>,
}

impl Timeline<'_> {
    /// Shows what happened to calls.
    fn tell(&mut self, machine: &Machine) -> ControlFlow<()> {
        let events = std::mem::take(&mut self.events);
        let told = events.iter().try_for_each(|event| match event {
            CallEvent::Entered(call) => self.teller.entered(machine, &self.functions, call),
            CallEvent::Left(ended) => self.teller.left(machine, &self.functions, ended),
        });
        self.events = events;
        self.events.clear();
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.teller.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// Ends the calls of a thread.
    fn end_thread(&mut self, machine: &Machine, thread: ThreadId, end: CallEnd) -> ControlFlow<()> {
        let Timeline {
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

impl Sink for Timeline<'_> {
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
            from: event.sample.ip.unwrap_or(0),
            to: event.sample.addr.unwrap_or(0),
            length: traced.code.length,
            instructions: traced.progress.instructions,
            cycles: traced.progress.cycles,
        };
        let Timeline {
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
        if self.events.is_empty() {
            ControlFlow::Continue(())
        } else {
            self.tell(machine)
        }
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
            Some(thread) => self.end_thread(machine, thread, end),
            None => ControlFlow::Continue(()),
        }
    }

    fn trace_error(&mut self, _: &mut Machine, _: &AuxtraceError<'_>) -> ControlFlow<()> {
        self.teller.summary.errors += 1;
        ControlFlow::Continue(())
    }

    fn end(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        let Timeline {
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

/// Writes calls, or adds them up.
struct Teller {
    output: Output,
    form: Form,
    shown: Shown,
    lines: Lines,
    totals: Totals,
    summary: Summary,
    timed: bool,
    failed: Option<io::Error>,
}

impl Teller {
    fn begin(&mut self) {
        let Form {
            by_function, json, ..
        } = self.form;
        let out = self.output.buffer();
        match (json, by_function) {
            (true, false) => json::write_head(json::Rows::Calls, out),
            (true, true) => json::write_head(json::Rows::Functions, out),
            (false, false) => text::write_head(out),
            (false, true) => table::write_head(out),
        }
    }

    fn entered(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        call: &Call,
    ) -> io::Result<()> {
        let name = &functions.text(call.function).name;
        let Some(depth) = self.shown.entered(machine, call, name) else {
            return Ok(());
        };
        if self.folds(depth) || self.form.json || self.form.by_function {
            return Ok(());
        }
        let name = |function| functions.text(function).name.as_str();
        self.lines.entered(
            call,
            depth,
            &caller(machine, call.thread),
            name,
            self.output.buffer(),
        );
        self.output.settle()
    }

    fn left(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        ended: &Ended,
    ) -> io::Result<()> {
        let Some(depth) = self.shown.left(&ended.call) else {
            return Ok(());
        };
        self.count(ended);
        if self.form.by_function {
            self.totals.add(ended);
        } else if !self.folds(depth) {
            let (caller, text) = (
                caller(machine, ended.call.thread),
                functions.text(ended.call.function),
            );
            match self.form.json {
                true => json::write_call(ended, &caller, text, self.output.buffer()),
                false => self
                    .lines
                    .left(ended, depth, &caller, &text.name, self.output.buffer()),
            }
        }
        self.output.settle()
    }

    /// Whether a call at a depth is counted in the ones above alone.
    fn folds(&self, depth: u32) -> bool {
        self.form.deepest.is_some_and(|deepest| depth >= deepest)
    }

    fn count(&mut self, ended: &Ended) {
        self.timed |= ended.left.is_some();
        self.summary.calls += 1;
        self.summary.begin_unseen += u64::from(ended.call.entry == Entry::Unseen);
        self.summary.end_unseen += u64::from(ended.end.is_unseen());
        self.summary.own += ended.own;
    }

    /// Writes the sums and everything that still waits.
    fn finish(mut self, functions: &FunctionTable<'_>) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        for total in self.totals.into_sorted() {
            let (text, out) = (functions.text(total.function), self.output.buffer());
            match self.form.json {
                true => json::write_function(&total, text, self.timed, out),
                false => table::write_row(&total, text, self.timed, out),
            }
            self.output.settle()?;
        }
        match self.form.json {
            true => json::write_summary(&self.summary, self.output.buffer()),
            false => text::write_summary(&self.summary, self.output.buffer()),
        }
        self.output.finish().map(|_| ())
    }
}

fn caller(machine: &Machine, (thread, _): ThreadKey) -> Caller<'_> {
    let info = machine.thread_info(thread);
    Caller {
        comm: machine.comm_of(thread),
        pid: info.pid.map_or(-1, |pid| pid.0),
        tid: info.tid.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_how_calls_are_shown() {
        let (deepest, json) = (Some(3), true);
        assert_eq!(Form::parse(""), Some(Form::default()));
        assert_eq!(
            Form::parse("depth:3,json"),
            Some(Form {
                deepest,
                json,
                by_function: false
            })
        );
        assert_eq!(
            Form::parse("functions"),
            Some(Form {
                by_function: true,
                ..Form::default()
            })
        );
        let wrong = [
            "depth:0",
            "depth:x",
            "depth",
            "function",
            "depth:2,functions",
        ];
        assert!(wrong.into_iter().all(|words| Form::parse(words).is_none()));
    }
}
