//! `report`: a recording as a table of functions and their callers.

mod accepted;
mod arguments;
mod browser;
mod call_graph;
mod count_mode;
pub(super) mod cycles;
mod fields;
mod html;
mod options;
mod parents;
mod records;
pub(super) mod row_filter;
mod structured;
mod table_plan;
pub(super) mod verbose;

use std::io::Write;

use oxperf_abi::EventType;
use oxperf_analysis::hist::{graphed, histograms};
use oxperf_collect::{CollectOptions, MergeThreads};
use oxperf_data::Reader;
use oxperf_itrace::ItraceOptions;
use oxperf_machine::Machine;
use oxperf_present::report::{branch_kinds, prologue, restrictions, table, tip};
use oxperf_profile::{EventProfile, Profile};
use oxperf_query::{Filter, formatters, require_cpus};
use oxperf_session::Diagnostics;
use oxperf_symbols::SymbolStore;
use oxperf_tracepoint::Formatters;

use super::dump;
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::load::{Graphed, LoadOptions, Loaded, load};
use crate::losses::{losses, report_chains, report_trouble};
use crate::output::{Output, print_error};
use crate::recording_options::TraceRequest;
use crate::stitch::stitched_registers;
use crate::{data_types, header, separator, symbol_source};
use browser::BrowsedRecording;
use count_mode::CountMode;
use options::{HeaderRequest, ReportForm, ReportOptions};
use row_filter::RowFilter;
use structured::StructuredReport;
use table_plan::TablePlan;

/// Tips for users of perf; one a run.
const TIPS: [&str; 6] = [
    "Show every sample with its call chain: oxperf script",
    "Record call chains to see callers: oxperf record -g",
    "See what runs in functions themselves, without their callees: oxperf report --no-children",
    "Sort by thread: oxperf report -s pid,sym",
    "Hide small rows: oxperf report --percent-limit 1",
    "Draw a flame graph while recording: oxperf profile -- COMMAND",
];

const HINT: &[u8] =
    b"# To display the perf.data header info, please use --header/--header-only options.\n#\n";

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "report",
    command: arguments::command,
    run: |matches, _| run(&arguments::options(matches)?),
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
                    return dump::report(order, quiet, self.input, self.reader, output)
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
        let Some((profile, diagnostics, rows)) = self.load(&plan, &formats, trace, output)? else {
            return Ok(None);
        };
        self.show(&plan, &profile, &diagnostics, &rows, output)
    }

    /// Reads the samples; `None` where there are none, which is said.
    fn load(
        &self,
        plan: &TablePlan<'_>,
        formats: &Formatters,
        trace: Option<TraceRequest>,
        output: &mut Output,
    ) -> Result<Option<(Profile, Diagnostics, RowFilter)>, Failure> {
        let recording = &self.options.recording;
        let names = symbol_source::open(&recording.symbols, self.reader)?;
        let filter = Filter::new(&recording.filter, self.reader);
        if filter.is_err() {
            // Times and the like are looked at behind the hint.
            output.flush()?;
        }
        let (filter, threads) = filter?.split_threads();
        let rows = RowFilter::new(&self.options.rows, threads)?;
        // A screen, a page and the like show chains wherever they are looked for.
        let few_graphs = self.options.form.is_text()
            && !self.options.form.is_structured()
            && plan.graphs_few_rows()
            && rows.shows_all();
        let graphed = |profile: &Profile| graphed(profile, &plan.for_text(profile).0);
        let collected = self.collect_options(plan, &rows);
        let loading = LoadOptions {
            trace,
            switching: recording.switching.clone(),
            details: plan.details(self.reader, &self.options.rows.details()),
            formats: Some(formats),
            graphed: few_graphs.then_some(&graphed as &Graphed<'_>),
            ..LoadOptions::new(&recording.symbols, &filter, collected)
        };
        let Loaded {
            mut profile,
            diagnostics,
            machine,
        } = load(self.input, self.reader, &names, loading)?;
        self.add_code_facts(plan, &mut profile, &machine, names.otherwise());
        if self.options.table.verbose {
            verbose::note_origins(&mut profile, &names, &machine);
        }
        drop(machine);
        symbol_source::keep(&names);
        if !self.options.table.text.quiet {
            symbol_source::report_nameless(names.otherwise());
            report_trouble(&diagnostics);
            report_chains(&profile.chain_losses);
        }
        // The profile has its own copies of the few names that it needs.
        drop(names);
        if profile.events.iter().all(EventProfile::is_empty) {
            let path = self.input.path().display();
            print_error(&format!("Error:\nThe {path} data has no samples!"));
            return Ok(None);
        }
        self.restrict(plan, &rows, &mut profile);
        Ok(Some((profile, diagnostics, rows)))
    }

    /// Threads of one name are one where nothing that is shown distinguishes them.
    fn collect_options(&self, plan: &TablePlan<'_>, rows: &RowFilter) -> CollectOptions {
        let shows_threads = plan.shows_threads() || rows.selects_threads();
        CollectOptions {
            stitch: stitched_registers(self.options.recording.stitch_lbr, self.reader),
            merge_threads: if self.options.form.is_text() && !shows_threads {
                MergeThreads::ByComm
            } else {
                MergeThreads::Never
            },
            ..*plan.collect()
        }
    }

    /// Adds to a profile what the code of its functions says, where a column shows that.
    fn add_code_facts(
        &self,
        plan: &TablePlan<'_>,
        profile: &mut Profile,
        machine: &Machine,
        store: &SymbolStore,
    ) {
        let symbols = &self.options.recording.symbols;
        if plan.wants_paces() {
            profile.ipc = cycles::paces(symbols, machine, store, profile);
        }
        if plan.wants_types() {
            profile.data_places =
                data_types::find(symbols, machine, store, profile, &mut |_| {}).places;
        }
    }

    /// Joins events, finds parents, and leaves out the samples that are not shown.
    fn restrict(&self, plan: &TablePlan<'_>, rows: &RowFilter, profile: &mut Profile) {
        let groupless =
            profile.events.len() > 1 && profile.events.iter().all(|event| event.group.is_none());
        if self.options.table.events.joins && groupless {
            profile.join_events();
        }
        plan.find_parents(profile);
        if !plan.shows_blocks() {
            rows.restrict(profile);
        }
        if self.options.table.verbose {
            profile.show_whole_paths();
        }
    }

    /// Shows the samples in the form that was asked for; gives the recording that is wanted instead.
    fn show(
        &self,
        plan: &TablePlan<'_>,
        profile: &Profile,
        diagnostics: &Diagnostics,
        rows: &RowFilter,
        output: &mut Output,
    ) -> Result<Option<String>, Failure> {
        match &self.options.form {
            ReportForm::Page(path) => {
                let losses = losses(profile, diagnostics);
                html::write(path, profile, &losses, self.reader, self.input.path())?;
            }
            ReportForm::Browser => {
                let recording = BrowsedRecording {
                    passed_on: &self.options.passed_on,
                    input: self.input,
                    reader: self.reader,
                };
                return browser::show(recording, profile, plan, rows);
            }
            ReportForm::Json | ReportForm::Csv => {
                let losses = losses(profile, diagnostics);
                self.structured(plan, profile, &losses, rows, output)?;
            }
            _ => self.text(plan, profile, rows, output)?,
        }
        Ok(None)
    }

    /// Writes the tables for other programs.
    fn structured(
        &self,
        plan: &TablePlan<'_>,
        profile: &Profile,
        losses: &[String],
        rows: &RowFilter,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let (hist, text) = plan.for_profile(profile);
        let mut tables = histograms(profile, &hist);
        for table in &mut tables {
            rows.restrict_rows(profile, table);
        }
        let report = StructuredReport {
            profile,
            keys: &hist.keys,
            min_percent: text.min_percent,
            file: self.input.path(),
            losses,
        };
        if self.options.form == ReportForm::Json {
            report.write_json(&tables, output)?;
        } else {
            report.write_csv(&tables, output)?;
        }
        Ok(())
    }

    /// Writes the tables and the lines around them.
    fn text(
        &self,
        plan: &TablePlan<'_>,
        profile: &Profile,
        rows: &RowFilter,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let quiet = self.options.table.text.quiet;
        let (hist, mut text) = plan.for_text(profile);
        restrictions(output, &rows.restrictions(&text.columns))?;
        if !quiet {
            prologue(output, profile)?;
        }
        rows.narrow(&mut text);
        if plan.shows_blocks() {
            cycles::write_tables(output, profile, &hist, &text)?;
        } else {
            for mut drawn in histograms(profile, &hist) {
                rows.restrict_rows(profile, &mut drawn);
                table(output, profile, &drawn, &text)?;
            }
        }
        if !quiet {
            tip(output, TIPS[profile.frames.len() % TIPS.len()])?;
            branch_kinds(output, profile)?;
        }
        if let Some(layout) = self.options.thread_counters {
            records::thread_counters(layout, self.input, self.reader, output)?;
        }
        Ok(())
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
