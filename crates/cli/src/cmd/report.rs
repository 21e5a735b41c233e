//! `report`: a recording as a table of functions and their callers.

mod accepted;
mod arguments;
#[cfg(feature = "browser")]
mod browser;
mod call_graph;
mod count_mode;
pub(super) mod cycles;
mod fields;
mod html;
mod load;
mod options;
mod parents;
mod records;
pub(super) mod row_filter;
mod structured;
mod table_plan;
mod tables;
pub(super) mod verbose;

use std::io::Write;

use oxperf_abi::EventType;
use oxperf_data::Reader;
use oxperf_itrace::ItraceOptions;
use oxperf_query::{formatters, require_cpus};
use oxperf_tracepoint::Formatters;

use super::dump::{self, DumpRequest};
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::losses;
use crate::output::{Output, print_error};
use crate::pager::{self, Habit};
use crate::{header, separator};
#[cfg(feature = "browser")]
use browser::BrowsedRecording;
use count_mode::CountMode;
use load::ReportedSamples;
use options::{HeaderRequest, ReportForm, ReportOptions};
use table_plan::TablePlan;

const HINT: &[u8] =
    b"# To display the perf.data header info, please use --header/--header-only options.\n#\n";

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "report",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration)?;
        let habit = match options.form {
            ReportForm::Browser | ReportForm::Page(_) => None,
            _ => Some(Habit::Paged),
        };
        let _pager = habit.and_then(|habit| pager::start(invocation, "report", habit));
        run(&options)
    },
    shares_work: true,
};

const NO_CHAINS: &str = "\
Error:
Selected -g or --branch-history.
But no callchain or branch data.
Did you call 'perf record' without -g or -b?";

const NO_CHAINS_FOR_PARENTS: &str = "\
Error:
Selected --sort parent, but no callchain data. Did you call 'perf record' without -g?";

/// Runs `report`.
fn run(options: &ReportOptions) -> Result<i32, Failure> {
    let mut input = Input::new(&options.recording.input)?;
    loop {
        let report = Report {
            options,
            input: &input,
            reader: &input.reader()?,
        };
        match report.run()? {
            Next::Exit(code) => return Ok(code),
            Next::Recording(name) => input = Input::open(&name, options.recording.input.force)?,
        }
    }
}

/// The step after a report.
enum Next {
    Exit(i32),
    /// The recording of this name is to be reported.
    Recording(String),
}

/// A report of one recording.
struct Report<'a> {
    options: &'a ReportOptions,
    input: &'a Input,
    reader: &'a Reader<'a>,
}

impl Report<'_> {
    fn run(&self) -> Result<Next, Failure> {
        let options = self.options;
        let mut output = crate::output::stdout();
        if matches!(options.header, HeaderRequest::First | HeaderRequest::Only) {
            header::write(&mut output, self.input, self.reader, options.full_header)?;
        }
        if options.header != HeaderRequest::Only {
            match options.form {
                ReportForm::RecordCounts => {
                    return records::stats(self.input, self.reader, output).map(Next::Exit);
                }
                ReportForm::Tasks { with_maps } => {
                    return records::tasks(self.input, self.reader, with_maps, output)
                        .map(Next::Exit);
                }
                ReportForm::Dump(order) => {
                    self.hint(&mut output)?;
                    let quiet = options.recording.quiet;
                    let packets = !options.recording.trace.off;
                    let request = DumpRequest { order, packets };
                    return dump::report(request, quiet, self.input, self.reader, output)
                        .map(Next::Exit);
                }
                _ => {
                    if let Some(name) = self.samples(&mut output)? {
                        return Ok(Next::Recording(name));
                    }
                }
            }
        }
        output.finish()?;
        Ok(Next::Exit(code::SUCCESS))
    }

    /// Says how to see the header, where it is not shown.
    fn hint(&self, output: &mut Output) -> Result<(), Failure> {
        if self.options.header == HeaderRequest::Hint {
            output.write_all(HINT)?;
        }
        Ok(())
    }

    /// Counts samples and shows them; gives the recording that is wanted instead.
    fn samples(&self, output: &mut Output) -> Result<Option<String>, Failure> {
        let recording = &self.options.recording;
        let trace = recording.trace.request(ItraceOptions::REPORT)?;
        let itrace = trace.as_ref().map(|trace| &trace.itrace);
        let counted = match self.options.counting.mode(self.reader, itrace) {
            Ok(counted) => counted,
            Err(refusal) => {
                print_error(refusal);
                return Ok(None);
            }
        };
        let formats = tracepoint_formats(self.reader);
        let plan = TablePlan::new(
            &self.options.table,
            self.reader,
            &formats,
            counted.unwrap_or(CountMode::Samples),
        )?;
        self.hint(output)?;
        if let Some(refusal) = refusal(&plan, counted, self.reader) {
            print_error(refusal);
            return Ok(None);
        }
        oxperf_sys::heap::keep_freed_memory();
        if let Err(failure) = require_cpus(&recording.filter, self.reader.events()) {
            print_error(&format!("{failure}\nError:\nfailed to set cpu bitmap"));
            return Ok(None);
        }
        let Some(samples) = self.load(&plan, &formats, trace, output)? else {
            return Ok(None);
        };
        self.show(&plan, &samples, output)
    }

    /// Shows the samples in the form that was asked for; gives the recording that is wanted instead.
    fn show(
        &self,
        plan: &TablePlan<'_>,
        samples: &ReportedSamples,
        output: &mut Output,
    ) -> Result<Option<String>, Failure> {
        let profile = &samples.profile;
        match &self.options.form {
            ReportForm::Page(path) => {
                let losses = losses(profile, &samples.diagnostics);
                html::write(path, profile, &losses, self.reader, self.input.path())?;
            }
            #[cfg(feature = "browser")]
            ReportForm::Browser => {
                let recording = BrowsedRecording {
                    options: &self.options.browser,
                    input: self.input,
                    reader: self.reader,
                };
                return browser::show(recording, profile, plan, &samples.rows);
            }
            ReportForm::Json | ReportForm::Csv => self.structured(plan, samples, output)?,
            _ => self.text(plan, samples, output)?,
        }
        Ok(None)
    }
}

/// The formats of the recording's tracepoints; none are read where it has no tracepoint.
fn tracepoint_formats(reader: &Reader<'_>) -> Formatters {
    let mut events = reader.events().iter();
    if events.any(|event| event.stored.attr.kind == EventType::TRACEPOINT) {
        formatters(reader)
    } else {
        Formatters::default()
    }
}

/// The reason why the recording cannot be shown as the options ask for it.
fn refusal(
    plan: &TablePlan<'_>,
    counted: Option<CountMode>,
    reader: &Reader<'_>,
) -> Option<&'static str> {
    if plan.separates_by_points() {
        Some(separator::NO_POINTS)
    } else if plan.misses_chains(reader.events()) {
        Some(NO_CHAINS)
    } else if plan.misses_chains_for_parents(reader.events()) {
        Some(NO_CHAINS_FOR_PARENTS)
    } else if counted.is_none() {
        Some(count_mode::NO_BRANCHES)
    } else if counted == Some(CountMode::Accesses) && !count_mode::carries_accesses(reader) {
        Some(count_mode::NO_ACCESSES)
    } else {
        None
    }
}
