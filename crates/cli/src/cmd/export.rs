//! `export`: a recording as a file of another tool.

mod arguments;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use oxperf_analysis::flame::FlameTree;
use oxperf_collect::CollectOptions;
use oxperf_present::export::{Exported, Format};
use oxperf_profile::{EventProfile, Profile};
use oxperf_query::Filter;
use oxperf_sys::files::create_output;

use super::{Entry, script};
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::losses::{losses, report_chains, report_trouble};
use crate::output::{self, Output};
use crate::{header, symbol_source};
use arguments::ExportOptions;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "export",
    command: arguments::command,
    run: |matches, invocation| run(arguments::options(matches, &invocation.configuration)?),
    shares_work: true,
};

/// Runs `export`.
fn run(options: ExportOptions) -> Result<i32, Failure> {
    if options.is_lines() {
        return write_lines(options);
    }
    let name = &options.format;
    let format = Format::parse(name)
        .ok_or_else(|| Failure::bad_option(format!("unknown format '{name}'")))?;
    let path = options.output.as_ref();
    if path.is_none()
        && matches!(format, Format::Pprof | Format::Perfetto)
        && io::stdout().is_terminal()
    {
        return Err(Failure::bad_option(format!(
            "{name} files are not text: name one with -o FILE"
        )));
    }
    let input = Input::new(&options.recording.input)?;
    let reader = input.reader()?;
    let names = symbol_source::open(&options.recording.symbols, &reader)?;
    let collect = CollectOptions {
        chains: true,
        max_stack: options.max_stack,
        moments: format.needs_moments() || format == Format::Pprof,
        inlines: options.recording.symbols.inlines,
        ..CollectOptions::default()
    };
    let filter = Filter::new(&options.recording.filter, &reader)?;
    let loading = LoadOptions {
        trace: options.trace,
        ..LoadOptions::new(&options.recording.symbols, &filter, collect)
    };
    let Loaded {
        profile,
        diagnostics,
        ..
    } = load(&input, &reader, &names, loading)?;
    symbol_source::keep(&names);
    report_trouble(&diagnostics);
    report_chains(&profile.chain_losses);
    symbol_source::report_nameless(names.otherwise());
    let event = choose(&profile, options.event.as_ref(), input.path())?;
    let (tree, places) = FlameTree::with_places(&profile, event);
    let lost = losses(&profile, &diagnostics);
    let title = header::command_or_file(&reader, input.path());
    let exported = Exported {
        title: &title,
        lost: &lost,
        profile: &profile,
        event,
        tree: &tree,
        places: &places,
    };
    write(&exported, format, path)?;
    Ok(code::SUCCESS)
}

/// Writes every event as a line of JSON, as `script --format jsonl` does.
fn write_lines(options: ExportOptions) -> Result<i32, Failure> {
    let output =
        match &options.output {
            Some(path) => Output::new(create_output(path).map_err(|error| {
                Failure::new(format!("cannot write {}: {error}", path.display()))
            })?),
            None => output::stdout(),
        };
    script::run_to(options.into_script(), output)
}

/// The event of this name, or the first with samples.
fn choose<'p>(
    profile: &'p Profile,
    name: Option<&String>,
    path: &Path,
) -> Result<&'p EventProfile, Failure> {
    let known = || {
        profile
            .events
            .iter()
            .map(|event| event.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match name {
        Some(name) => profile
            .events
            .iter()
            .find(|event| event.name == *name)
            .ok_or_else(|| {
                Failure::new(format!(
                    "{} has no event '{name}'; it has: {}",
                    path.display(),
                    known()
                ))
            }),
        None => profile
            .events
            .iter()
            .find(|event| event.sample_count > 0)
            .ok_or_else(|| {
                Failure::new(format!(
                    "{} has no samples; its events are: {}",
                    path.display(),
                    known()
                ))
            }),
    }
}

fn write(exported: &Exported<'_>, format: Format, path: Option<&PathBuf>) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut output = output::stdout();
        exported.write(format, &mut output)?;
        output.finish()?;
        return Ok(());
    };
    let written = || -> io::Result<()> {
        let mut output = Output::new(create_output(path)?);
        exported.write(format, &mut output)?;
        output.flush()
    };
    written().map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}
