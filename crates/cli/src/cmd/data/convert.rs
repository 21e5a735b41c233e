//! `data convert`: a recording in another form.

mod arguments;
mod ctf;
mod json;
mod perf_file;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use oxperf_data::Reader;
use oxperf_query::{Filter, FilterOptions, QueryRun, Switching};
use oxperf_resolve::Chains;
use oxperf_script::deferred_symbols::SymbolNames;
use oxperf_script::error::ScriptError;
use oxperf_script::event_style::{EventStyles, StyleOptions};
use oxperf_script::format::{RecordingInfo, SampleFormat};
use oxperf_script::functions::{FunctionChoice, FunctionFilter};
use oxperf_script::output::ScriptOutput;
use oxperf_script::record_text::VisibleRecords;
use oxperf_script::selection::Selection;
use oxperf_script::sink::{ScriptSink, ScriptSource, Shown};
use oxperf_sys::files::create_output;
use oxperf_tracepoint::Formatters;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::report_trouble;
use crate::output::{Output, print_error};
use arguments::ConvertOptions;

/// A form that a recording can be converted to.
struct Target {
    /// The option that asks for it; its value is where the result goes.
    option: &'static str,
    value: &'static str,
    help: &'static str,
    /// What messages call the form.
    name: &'static str,
    /// The options, of those that not every form takes, that mean something for it.
    takes: &'static [&'static str],
    run: fn(&Request<'_>) -> Result<Converted, Failure>,
}

/// All forms, in the order of the help.
const TARGETS: [Target; 3] = [
    Target {
        option: "to-ctf",
        value: "DIR",
        help: "Write a trace of the Common Trace Format, which babeltrace2 and Trace Compass read",
        name: "CTF",
        takes: &["all", "tod", "time"],
        run: ctf::run,
    },
    Target {
        option: "to-json",
        value: "FILE",
        help: "Write the header and every sample as JSON, addresses with their names",
        name: "JSON",
        takes: &["time"],
        run: json::run,
    },
    Target {
        option: "to-perf",
        value: "FILE",
        help: "Write one plain perf.data file that every perf opens, whatever form the recording has",
        name: "perf",
        takes: &[],
        run: perf_file::run,
    },
];

/// What is to be converted.
struct Request<'a> {
    input: &'a Input,
    /// Where the result goes.
    output: &'a Path,
    /// Whether an output that exists may be replaced.
    force: bool,
    options: &'a ConvertOptions,
}

impl Request<'_> {
    /// A new file for its owner alone, as the recording is. With `--force` it takes the place of one that was there.
    fn create_file(&self) -> Result<File, Failure> {
        let path = self.output.display();
        if self.input.is_read_from(self.output) {
            return Err(Failure::new(format!(
                "{path} is the recording itself: name another file"
            )));
        }
        let failed = |error: io::Error| Failure::new(format!("cannot create {path}: {error}"));
        match self.force {
            true => create_output(self.output),
            false => File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(self.output),
        }
        .map_err(failed)
    }

    /// The samples that are asked for, by their time.
    fn times(&self, reader: &Reader<'_>) -> Result<Filter, Failure> {
        let options = FilterOptions {
            times: self.options.times.clone(),
            ..FilterOptions::default()
        };
        Ok(Filter::new(&options, reader)?)
    }
}

/// The result of a conversion.
struct Converted {
    bytes: u64,
    samples: u64,
    /// Other records, where they are asked for.
    others: Option<u64>,
    /// Samples outside of the times that were asked for.
    skipped: u64,
}

impl Converted {
    /// The counts of samples that were shown.
    fn of(shown: &Shown) -> Converted {
        Converted {
            bytes: shown.bytes + shown.written.bytes,
            samples: shown.samples,
            others: shown.written.others,
            skipped: shown.skipped,
        }
    }
}

/// A recording whose samples are written in a format.
struct Conversion<'c, 'a> {
    input: &'c Input,
    reader: &'c Reader<'a>,
    formatters: &'c Formatters,
    names: SymbolNames,
    chains: Chains,
    filter: Filter,
}

impl<'c> Conversion<'c, '_> {
    /// Writes all samples that pass the filter.
    fn run(
        self,
        walk: QueryRun<'_, '_>,
        format: impl SampleFormat,
        output: Output,
    ) -> Result<Shown, Failure> {
        self.run_with(walk, format, output, &Failure::from)
    }

    /// Writes all samples that pass the filter, with `failed` to make a message of an output that cannot be written.
    fn run_with(
        self,
        walk: QueryRun<'_, '_>,
        format: impl SampleFormat,
        output: Output,
        failed: &dyn Fn(io::Error) -> Failure,
    ) -> Result<Shown, Failure> {
        let Conversion { input, reader, .. } = self;
        let failed = |error| match error {
            ScriptError::Output(error) => failed(error),
            other => other.into(),
        };
        let source = ScriptSource {
            styles: EventStyles::new(StyleOptions::default(), walk.events(), self.formatters),
            chains: self.chains,
            names: Arc::clone(&self.names.names),
            formatters: self.formatters,
            endian: reader.endian(),
            live: false,
        };
        let names = Arc::clone(&self.names.names);
        let selection = Selection {
            filter: self.filter,
            functions: FunctionFilter::new(FunctionChoice::default(), names),
            switching: Switching::default(),
            remaining: None,
        };
        let out = ScriptOutput::new(output, self.names);
        let mut sink = ScriptSink::new(source, selection, VisibleRecords::default(), format, out);
        let recording = RecordingInfo {
            path: input.path(),
            modified: input.modified(),
            reader,
            events: walk.events(),
        };
        sink.begin(&recording).map_err(failed)?;
        let finished = walk.run(&mut sink).map_err(|error| input.refuse(&error))?;
        sink.end(&finished);
        let shown = sink.finish().map_err(failed)?;
        report_trouble(&finished.diagnostics);
        Ok(shown)
    }
}

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "convert",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration)?;
        run(&options, &invocation.program)
    },
    shares_work: true,
};

/// Runs `data convert`.
fn run(options: &ConvertOptions, program: &str) -> Result<i32, Failure> {
    let (target, output) = (&options.target, options.output.as_path());
    let force = options.input.force;
    if !force && is_taken(output) {
        return Err(Failure::new(
            "Output file exists. Use --force to overwrite it.",
        ));
    }
    let input = Input::new(&options.input)?;
    let done = (target.run)(&Request {
        input: &input,
        output,
        force,
        options,
    })?;
    let (from, to) = (input.path().display(), output.display());
    print_error(&format!(
        "[ {program} data convert: Converted '{from}' into {} data '{to}' ]",
        target.name
    ));
    let megabytes = done.bytes as f64 / f64::from(1 << 20);
    let (samples, others) = (done.samples, done.others);
    let others = others
        .map(|count| format!(", {count} non-samples"))
        .unwrap_or_default();
    print_error(&format!(
        "[ {program} data convert: Converted and wrote {megabytes:.3} MB ({samples} samples{others}) ]"
    ));
    if done.skipped > 0 {
        print_error(&format!(
            "[ {program} data convert: Skipped {} samples ]",
            done.skipped
        ));
    }
    Ok(code::SUCCESS)
}

/// Whether something is there that a result would replace; an empty folder is not.
fn is_taken(output: &Path) -> bool {
    match fs::read_dir(output) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => output.exists(),
    }
}
