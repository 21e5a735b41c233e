//! `script --call-tree`: the calls of hardware trace, with their times and costs.

mod visible_calls;

use std::io;
use std::ops::ControlFlow;

use oxperf_analysis::calls::totals::Totals;
use oxperf_analysis::calls::{Call, Ended, Entry, ThreadKey};
use oxperf_calls::{CallFollower, CallReceiver, FunctionTable, NamedFunction, branches_only};
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_present::call_tree::{self as text, Caller, FunctionText, Summary, json, table};
use oxperf_query::{Filter, Query, TraceOptions};
use oxperf_resolve::SymbolSource;
use oxperf_script::functions::FunctionChoice;

use super::arguments::ScriptOptions;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::itrace_log;
use crate::losses::report_trouble;
use crate::output::Output;
use crate::recording_options::TraceRequest;
use visible_calls::{CallLines, VisibleCalls};

/// The form that calls are shown in.
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

/// Runs `script --call-tree=WORDS`.
pub(super) fn run(
    words: &str,
    options: &ScriptOptions,
    recording: (&Input, &Reader<'_>),
    output: Output,
    names: &dyn SymbolSource,
) -> Result<i32, Failure> {
    let form = Form::parse(words).ok_or_else(|| {
        Failure::bad_option(format!(
            "--call-tree: '{words}' is none of depth:N, functions, json or several with commas (not depth:N with functions)"
        ))
    })?;
    let (input, reader) = recording;
    let filter = Filter::new(&options.recording.filter, reader)?;
    let progress = input.progress(true);
    let query = Query {
        keeps_exited_threads: true,
        guests: Some(&options.recording.symbols.guests),
        progress: Some(&progress),
        ..Query::default()
    };
    let mut walk = query.start(reader);
    if let Some(TraceRequest { itrace, cores }) = options.trace {
        let trace = TraceOptions {
            itrace: branches_only(itrace),
            cores,
            symbols: &options.recording.symbols,
            recording: input.path(),
        };
        let decoded = walk.decode_trace(trace, &filter);
        decoded.map_err(|error| input.refuse(&error))?;
    }
    if !walk.decodes_trace() {
        return Err(Failure::new(format!(
            "{}: no Intel PT trace in it to show calls of",
            input.path().display()
        )));
    }
    let choice = FunctionChoice::new(options.functions.clone());
    let mut writer = CallWriter {
        output,
        form,
        visible: VisibleCalls::new(filter, choice),
        lines: CallLines::default(),
        totals: Totals::default(),
        summary: Summary::default(),
        timed: false,
        failed: None,
    };
    writer.begin();
    let mut follower = CallFollower::new(reader.endian(), names, writer);
    let finished = itrace_log::run(walk, (input, reader.endian()), &mut follower)?;
    drop(progress);
    let (mut writer, functions, remarks) = follower.finish();
    writer.summary.remarks = remarks;
    writer.finish(&functions)?;
    report_trouble(&finished.diagnostics);
    Ok(code::SUCCESS)
}

/// Writes calls, or adds them up.
struct CallWriter {
    output: Output,
    form: Form,
    visible: VisibleCalls,
    lines: CallLines,
    totals: Totals,
    summary: Summary,
    timed: bool,
    failed: Option<io::Error>,
}

impl CallReceiver for CallWriter {
    fn entered(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        call: &Call,
    ) -> ControlFlow<()> {
        let written = self.write_entered(machine, functions, call);
        self.note(written)
    }

    fn left(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        ended: &Ended,
    ) -> ControlFlow<()> {
        let written = self.write_left(machine, functions, ended);
        self.note(written)
    }

    fn trace_error(&mut self) {
        self.summary.errors += 1;
    }
}

impl CallWriter {
    fn note(&mut self, written: io::Result<()>) -> ControlFlow<()> {
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }

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

    fn write_entered(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        call: &Call,
    ) -> io::Result<()> {
        let name = &functions.function(call.function).name;
        let Some(depth) = self.visible.entered(machine, call, name) else {
            return Ok(());
        };
        if self.folds(depth) || self.form.json || self.form.by_function {
            return Ok(());
        }
        let name = |function| functions.function(function).name.as_str();
        self.lines.entered(
            call,
            depth,
            &caller(machine, call.thread),
            name,
            self.output.buffer(),
        );
        self.output.settle()
    }

    fn write_left(
        &mut self,
        machine: &Machine,
        functions: &FunctionTable<'_>,
        ended: &Ended,
    ) -> io::Result<()> {
        let Some(depth) = self.visible.left(&ended.call) else {
            return Ok(());
        };
        self.count(ended);
        if self.form.by_function {
            self.totals.add(ended);
        } else if !self.folds(depth) {
            let caller = caller(machine, ended.call.thread);
            let text = function_text(functions.function(ended.call.function));
            match self.form.json {
                true => json::write_call(ended, &caller, &text, self.output.buffer()),
                false => self
                    .lines
                    .left(ended, depth, &caller, text.name, self.output.buffer()),
            }
        }
        self.output.settle()
    }

    /// `true` for a depth whose calls are counted in the ones above alone.
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
            let text = function_text(functions.function(total.function));
            let out = self.output.buffer();
            match self.form.json {
                true => json::write_function(&total, &text, self.timed, out),
                false => table::write_row(&total, &text, self.timed, out),
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

fn function_text(function: &NamedFunction) -> FunctionText<'_> {
    FunctionText {
        name: &function.name,
        object: &function.object,
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
