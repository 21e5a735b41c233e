//! `script`: every sample as text.

pub(crate) mod arguments;
mod call_tree;
mod checks;
mod dlfilter;
mod gen_script;
mod perf_program;
mod programs;
mod script_pipe;

use std::io::Write;
use std::sync::Arc;

use oxperf_abi::RecordType;
use oxperf_data::{Container, FeatureId, Reader};
use oxperf_itrace::Images;
use oxperf_present::dump::{Architecture, Consumer};
use oxperf_present::script::{EventClass, FieldSet, FieldSpec};
use oxperf_query::{
    Filter, Query, QueryRun, RecordOrder, Switching, TraceOptions, formatters, require_cpus,
    unwinder,
};
use oxperf_resolve::{ChainLosses, ChainOptions, Chains, Names, RecordedSymbols};
use oxperf_script::code_reader::{CodeReader, shows_branch_code, shows_instructions};
use oxperf_script::deferred_symbols::SymbolNames;
use oxperf_script::error::ScriptError;
use oxperf_script::event_style::{EventStyles, StyleOptions};
use oxperf_script::format::csv::CsvFormat;
use oxperf_script::format::jsonl::{JsonlForm, JsonlFormat};
use oxperf_script::format::text::{TextFormat, TextOptions};
use oxperf_script::format::{RecordingInfo, SampleFormat};
use oxperf_script::functions::{FunctionChoice, FunctionFilter};
use oxperf_script::output::ScriptOutput;
use oxperf_script::record_text::VisibleRecords;
use oxperf_script::requirements;
use oxperf_script::selection::Selection;
use oxperf_script::sink::{ScriptSink, ScriptSource};
use oxperf_script::srcline_text::SourceOptions;
use oxperf_script::time_of_day::TimeOfDay;
use oxperf_script::wrap::dlfilter::{Dlfilter, DlfilterFormat};
use oxperf_script::wrap::event_dumps::{EventDump, EventDumps};
use oxperf_script::wrap::line_cache::LineCache;
use oxperf_script::wrap::record_dump::RecordDumpFormat;
use oxperf_script::wrap::stat_rounds::StatRoundsFormat;
use oxperf_session::{CountCollector, Diagnostics, EventTable, Finished};
use oxperf_symbols::SymbolStore;
use oxperf_sys::files::create_output;
use oxperf_tracepoint::Formatters;

use super::Entry;
use super::dump::{self, DumpRequest};
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::{report_chains, report_trouble};
use crate::output::{self, Output, print_error, print_line};
use crate::pager::{self, Habit};
use crate::stitch::stitched_registers;
use crate::{header, itrace_log, symbol_source};
use arguments::{OutputFormat, ProgramRequest, Request, ScriptOptions};

/// The refusal of the time of day where no clock is known by it.
const NO_TIME_OF_DAY: &str =
    "Can't provide 'tod' time, missing clock data. Please record with -k/--clockid option.";

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "script",
    command: arguments::command,
    run: |matches, invocation| {
        let request = arguments::request(matches, &invocation.configuration);
        let habit = match request {
            Request::Show(..) => Habit::Paged,
            Request::ListDlfilters | Request::ListPrograms => Habit::Unpaged,
        };
        let _pager = pager::start(invocation, "script", habit);
        run(request)
    },
    shares_work: true,
};

/// Runs `script`.
fn run(request: Request) -> Result<i32, Failure> {
    match request {
        Request::ListDlfilters => dlfilter::list()?,
        Request::ListPrograms => programs::list()?,
        Request::Show(program, options) => return show(&program, options),
    }
    Ok(code::SUCCESS)
}

/// Writes the samples to standard output, or to the program that is to read them.
fn show(
    program: &ProgramRequest,
    options: Result<Box<ScriptOptions>, Failure>,
) -> Result<i32, Failure> {
    let Some((reading, output)) = script_pipe::start(program)? else {
        return run_to(*options?, output::stdout());
    };
    let options = ScriptOptions {
        format: OutputFormat::Jsonl,
        is_read: true,
        ..*options?
    };
    run_to(options, output)?;
    reading.wait()
}

/// Writes what is asked for to `output`.
pub(crate) fn run_to(options: ScriptOptions, mut output: Output) -> Result<i32, Failure> {
    let input = Input::new(&options.recording.input)?;
    let reader = input.reader()?;
    // A stream describes itself as it comes.
    let describes_itself = reader.container() == Container::Stream && options.header.full;
    if options.header.shown || describes_itself {
        header::write(&mut output, &input, &reader, options.header.full)?;
        // It stands whatever is refused behind it.
        output.flush()?;
    }
    if options.header.alone {
        output.finish()?;
        return Ok(code::SUCCESS);
    }
    require_cpus(&options.recording.filter, reader.events())?;
    // Whatever is wrong there, perf has one exit code for it in this command.
    let symbols = symbol_source::open(&options.recording.symbols, &input, &reader)
        .map_err(|failure| Failure::new(failure.to_string()))?;
    if let Some(words) = &options.call_tree {
        return call_tree::run(words, &options, (&input, &reader), output, &symbols);
    }
    let formatters = formatters(&reader);
    if let Some(language) = &options.gen_script {
        let program = gen_script::NewProgram::of(language)?;
        gen_script::write(program, &EventTable::new(&reader), &formatters)?;
        return Ok(code::SUCCESS);
    }
    let script = Script {
        options: &options,
        input: &input,
        reader: &reader,
        symbols: Arc::new(symbols),
        formatters: &formatters,
    };
    script.run(output)
}

/// A recording whose samples are to be shown.
struct Script<'o, 'a> {
    options: &'o ScriptOptions,
    input: &'o Input,
    reader: &'o Reader<'a>,
    symbols: Arc<RecordedSymbols<SymbolStore>>,
    formatters: &'o Formatters,
}

/// The wrappers of a format, the outermost first.
type WrappedFormat<F> = StatRoundsFormat<EventDumps<RecordDumpFormat<DlfilterFormat<F>>>>;

/// Ends the output of a walk that has finished; gives the losses of call chains.
type Ending<'o> = Box<dyn FnOnce(&Finished) -> Result<ChainLosses, Failure> + 'o>;

/// The parts of a sink that any format has.
struct SinkParts {
    spec: FieldSpec,
    filter: Filter,
    visible: VisibleRecords,
    names: Arc<Names<'static>>,
    output: Output,
}

impl<'o> Script<'o, '_> {
    fn run(&self, output: Output) -> Result<i32, Failure> {
        let (options, reader) = (self.options, self.reader);
        let mut visible = VisibleRecords::new(options.records.clone());
        if options.chains.leaves_open {
            visible.add(RecordType::CALLCHAIN_DEFERRED);
        }
        let progress = self.input.progress(true);
        let features = reader.features().bits();
        let mut query = Query {
            order: options.dump.unwrap_or_default(),
            // Trace is decoded behind the end of its threads, too. A recorder that did not finish tells nothing of it.
            keeps_exited_threads: features.is_empty() || features.contains(FeatureId::AUXTRACE),
            leaves_chains_open: options.chains.leaves_open,
            guests: Some(&options.recording.symbols.guests),
            jit_logs: Some(&options.recording.symbols.search_paths),
            progress: Some(&progress),
            ..Query::default()
        };
        if options.debug_mode {
            return checks::run(self.input, query.start(reader));
        }
        self.require_time_of_day(&EventTable::new(reader))?;
        if visible.contains(RecordType::FINISHED_ROUND) {
            query.order = RecordOrder::File;
        }
        let filter = Filter::new(&options.recording.filter, reader)?;
        let mut walk = query.start(reader);
        self.decode_trace(&mut walk, &filter)?;
        let spec = self.fields(&walk)?;
        let counts = spec.any_has(FieldSet::IPC) || options.format != OutputFormat::Text;
        walk.skip_trace_outside(&filter, counts);
        let names: Arc<Names<'static>> = Arc::new(Names::new(Arc::clone(&self.symbols)));
        let parts = SinkParts {
            spec,
            filter,
            visible,
            names: Arc::clone(&names),
            output,
        };
        let (finished, end) = match options.format {
            OutputFormat::Text => self.write(walk, self.text(&spec, names), parts)?,
            OutputFormat::Jsonl => self.write(walk, self.jsonl(&spec, names), parts)?,
            OutputFormat::Csv => self.write(walk, CsvFormat::new(names, self.formatters), parts)?,
        };
        drop(progress);
        let chain_losses = end(&finished)?;
        self.report(finished.diagnostics, &chain_losses);
        Ok(code::SUCCESS)
    }

    /// Writes the samples of a walk in a format; what is left is the end of the output.
    fn write<F: SampleFormat + 'o>(
        &self,
        walk: QueryRun<'_, '_>,
        format: F,
        parts: SinkParts,
    ) -> Result<(Finished, Ending<'o>), Failure> {
        let (input, reader) = (self.input, self.reader);
        let mut sink = self.sink(&walk, format, parts)?;
        sink.begin(&RecordingInfo {
            path: input.path(),
            modified: input.modified(),
            reader,
            events: walk.events(),
        })?;
        let finished = itrace_log::run(walk, (input, reader.endian()), &mut sink)?;
        let is_read = self.options.is_read;
        let end = move |finished: &Finished| {
            sink.end(finished);
            finish(sink, is_read)
        };
        Ok((finished, Box::new(end)))
    }

    fn require_time_of_day(&self, events: &EventTable) -> Result<(), Failure> {
        let spec = &self.options.fields;
        let mut classes = events
            .events()
            .iter()
            .map(|event| EventClass::of(event.attr.kind));
        let shows = classes.any(|class| spec.fields(class).contains(FieldSet::TOD));
        if shows && TimeOfDay::of(self.reader).is_none() {
            return Err(Failure::new(NO_TIME_OF_DAY));
        }
        Ok(())
    }

    /// Adds the samples that are made of hardware trace.
    fn decode_trace(&self, walk: &mut QueryRun<'_, '_>, filter: &Filter) -> Result<(), Failure> {
        let options = self.options;
        let Some(mut request) = options.trace.filter(|_| options.dump.is_none()) else {
            return Ok(());
        };
        let spec = &options.fields;
        request.itrace.stacks.thread_stack |=
            spec.any_has(FieldSet::CALLINDENT) || !options.functions.graph.is_empty();
        let trace = TraceOptions {
            itrace: request.itrace,
            cores: request.cores,
            symbols: &options.recording.symbols,
            recording: self.input.path(),
        };
        let decoded = walk.decode_trace(trace, filter);
        decoded.map_err(|error| self.input.refuse(&error))?;
        if shows_instructions(spec) {
            walk.trace_with_code();
        }
        Ok(())
    }

    /// The fields that are shown: those that are asked for, as far as they were recorded.
    fn fields(&self, walk: &QueryRun<'_, '_>) -> Result<FieldSpec, Failure> {
        let (spec, events) = (self.options.fields, walk.events());
        if spec.any_has(FieldSet::METRIC) {
            print_error(
                "no metrics are shown: what they are made of is in tables of a CPU's events",
            );
        }
        let container = self.reader.container();
        let refuse = |missing: String| match container {
            Container::Stream => Failure::invalid(missing),
            _ => Failure::new(missing),
        };
        requirements::require_branches(&spec, self.reader, events).map_err(refuse)?;
        requirements::require_silenced(&spec, events).map_err(Failure::new)?;
        let recorded = requirements::recorded_fields(spec, events, walk.decodes_trace());
        let mut spec = recorded.map_err(refuse)?;
        if self.options.chains.shown {
            let count = self.reader.events().len();
            requirements::show_chains(&mut spec, events, count, container);
        }
        Ok(spec)
    }

    /// The sink that shows samples in a format.
    fn sink<F: SampleFormat>(
        &self,
        walk: &QueryRun<'_, '_>,
        format: F,
        parts: SinkParts,
    ) -> Result<ScriptSink<'o, WrappedFormat<F>>, Failure> {
        let (options, reader) = (self.options, self.reader);
        let SinkParts {
            spec,
            filter,
            visible,
            names,
            output,
        } = parts;
        let adds_chains = walk
            .itrace()
            .is_some_and(|itrace| itrace.stacks.add_callchain);
        let style = StyleOptions {
            spec,
            with_chains: options.chains.shown,
            adds_chains,
            nanoseconds: options.lines.nanoseconds,
            narrow: options.lines.narrow,
            sources: SourceOptions {
                inlines: options.recording.symbols.inlines,
                whole_paths: options.recording.symbols.whole_source_paths,
            },
        };
        let chains = self.chains();
        let dumper = options.dump.map(|order| {
            let packets = options.trace.is_some();
            let request = DumpRequest { order, packets };
            dump::dumper(request, self.input, reader, walk.events(), Consumer::Script)
        });
        let switching = Switching::new(&options.recording.switching, walk.events())?;
        let dlfilter = self.dlfilter(&names)?;
        let choice = FunctionChoice::new(options.functions.clone());
        let symbol_names = SymbolNames {
            names: Arc::clone(&names),
            last: choice.last_of_chains(),
        };
        let format = DlfilterFormat::new(dlfilter, format);
        let format = RecordDumpFormat::new(dumper, format);
        let styles = EventStyles::new(style, walk.events(), self.formatters);
        let format = EventDumps::new(self.event_dumps(&styles, walk.events())?, format);
        let lists_counts = options.format == OutputFormat::Text && options.dump.is_none();
        let counts = lists_counts.then(|| CountCollector::new(walk.events(), reader.endian()));
        let format = StatRoundsFormat::new(counts, format);
        let source = ScriptSource {
            styles,
            chains,
            names: Arc::clone(&names),
            formatters: self.formatters,
            endian: reader.endian(),
            live: reader.container() == Container::Stream,
        };
        let selection = Selection {
            filter,
            functions: FunctionFilter::new(choice, names),
            switching,
            remaining: options.max_events,
        };
        let out = ScriptOutput::new(output, symbol_names);
        Ok(ScriptSink::new(source, selection, visible, format, out))
    }

    fn chains(&self) -> Chains {
        let request = &self.options.chains;
        let search_paths = &self.options.recording.symbols.search_paths;
        let unwinder = request
            .shown
            .then(|| unwinder(search_paths, self.reader))
            .flatten();
        let options = ChainOptions {
            max_stack: request.max_stack,
            stitch: stitched_registers(self.options.recording.stitch_lbr, self.reader),
            ..ChainOptions::default()
        };
        Chains::new(options, unwinder)
    }

    /// The code of what ran.
    fn images(&self) -> Images {
        let symbols = &self.options.recording.symbols;
        Images::new(symbols.code_search_paths(self.input.path(), self.reader))
    }

    fn dlfilter(&self, names: &Arc<Names<'static>>) -> Result<Option<Dlfilter>, Failure> {
        let Some(request) = &self.options.dlfilter else {
            return Ok(None);
        };
        dlfilter::start(request, Arc::clone(names), self.images()).map(Some)
    }

    /// Lines of text; those of branches are kept where no records are dumped between them.
    fn text(&self, spec: &FieldSpec, names: Arc<Names<'static>>) -> LineCache<TextFormat<'o>> {
        let lines = &self.options.lines;
        let architecture = dump::architecture(self.reader);
        let text = TextOptions {
            clock: lines.clock,
            time_of_day: TimeOfDay::of(self.reader),
            with_flags: spec.any_has(FieldSet::FLAGS),
            object_width: lines.object_width,
            architecture,
            endian: self.reader.endian(),
        };
        let shows_code = shows_instructions(spec) || shows_branch_code(spec);
        let is_known = matches!(architecture, Architecture::X86);
        let images = (shows_code && is_known).then(|| self.images());
        let code = CodeReader::new(images, lines.max_blocks);
        let text = TextFormat::new(text, names, self.formatters, code);
        LineCache::new(text, self.options.dump.is_none())
    }

    /// Objects of JSON, one a line.
    fn jsonl(&self, spec: &FieldSpec, names: Arc<Names<'static>>) -> JsonlFormat<'o> {
        let form = JsonlForm {
            inlines: self.options.recording.symbols.inlines,
            lines: spec.any_has(FieldSet::SRCLINE),
        };
        let architecture = dump::architecture(self.reader);
        JsonlFormat::new(form, names, self.formatters, architecture)
    }

    /// Makes a file for the samples of each event, if that is asked for. The name of an event may hold characters that
    /// separate folders: these become underscores.
    fn event_dumps(
        &self,
        styles: &EventStyles,
        events: &EventTable,
    ) -> Result<Vec<EventDump>, Failure> {
        if !self.options.per_event_dump || self.options.format != OutputFormat::Text {
            return Ok(Vec::new());
        }
        let create = |event| {
            let event = styles.style_of(event, self.formatters).name;
            let event = event.replace(['/', '\0'], "_");
            let name = format!("{}.{event}.dump", self.input.path().display());
            let file = create_output(std::path::Path::new(&name)).map_err(|error| {
                Failure::new(format!(
                    "Couldn't create the per event dump files: {name}: {error}"
                ))
            })?;
            Ok(EventDump::new(name, Output::new(file)))
        };
        events.events().iter().map(create).collect()
    }

    /// Reports losses, damage and missing names.
    fn report(&self, mut diagnostics: Diagnostics, chain_losses: &ChainLosses) {
        symbol_source::keep(&self.symbols);
        if self.options.records.contains(&RecordType::LOST) {
            // Each of them was shown in its place.
            diagnostics.lost_chunks = 0;
        }
        report_trouble(&diagnostics);
        report_chains(chain_losses);
        symbol_source::report_nameless(self.symbols.otherwise());
    }
}

/// Finishes the output; gives the losses of call chains.
fn finish<F: SampleFormat>(sink: ScriptSink<'_, F>, is_read: bool) -> Result<ChainLosses, Failure> {
    match sink.finish() {
        // The reader of the events may have seen enough.
        Err(ScriptError::Output(error))
            if is_read && error.kind() == std::io::ErrorKind::BrokenPipe =>
        {
            Ok(ChainLosses::default())
        }
        Err(error) => Err(error.into()),
        Ok(shown) => {
            for message in &shown.written.messages {
                print_line(message)?;
            }
            Ok(shown.chain_losses)
        }
    }
}
