//! `export`: a recording as a file of another tool.

mod arguments;
mod objects;
mod otlp;
mod push;
mod tables;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use oxperf_analysis::flame::FlameTree;
use oxperf_collect::{CollectOptions, LineText};
use oxperf_present::export::{CodeExport, Exported, Format, MessageLimits};
use oxperf_profile::{EventProfile, Profile};
use oxperf_query::{Filter, require_cpus};
use oxperf_sys::files::create_output;

use super::{Entry, script};
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::losses::{losses, report_chains, report_trouble};
use crate::output::{self, Output};
use crate::{header, symbol_source};
use arguments::ExportOptions;
use otlp::Recorded;
use push::Receiver;

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
    if options.is_tables() {
        return tables::write(&options);
    }
    let name = &options.format;
    let format = Format::parse(name)
        .ok_or_else(|| Failure::bad_option(format!("unknown format '{name}'")))?;
    let path = options.output.as_ref();
    let mut receiver = options.push.as_deref().map(Receiver::new).transpose()?;
    if path.is_none() && receiver.is_none() && format.is_binary() && io::stdout().is_terminal() {
        return Err(Failure::bad_option(format!(
            "{name} files are not text: name one with -o FILE"
        )));
    }
    let input = Input::new(&options.recording.input)?;
    let reader = input.reader()?;
    let names = symbol_source::open(&options.recording.symbols, &input, &reader)?;
    let collect = collect_options(&options, format);
    require_cpus(&options.recording.filter, reader.events())?;
    let filter = Filter::new(&options.recording.filter, &reader)?;
    let loading = LoadOptions {
        trace: options.trace,
        ..LoadOptions::new(&options.recording.symbols, &filter, collect)
    };
    let Loaded {
        profile,
        diagnostics,
        machine,
    } = load(&input, &reader, &names, loading)?;
    symbol_source::keep(&names);
    report_trouble(&diagnostics);
    report_chains(&profile.chain_losses);
    symbol_source::report_nameless(names.otherwise());
    let event = choose(&profile, options.event.as_ref(), input.path())?;
    let lost = losses(&profile, &diagnostics);
    let title = header::command_or_file(&reader, input.path());
    match format {
        Format::Tree(format) => {
            let (tree, places) = FlameTree::with_places(&profile, event);
            let exported = Exported {
                title: &title,
                lost: &lost,
                profile: &profile,
                event,
                tree: &tree,
                places: &places,
            };
            write(path, |out| exported.write(format, out))?;
        }
        Format::Code(_) | Format::Otlp => {
            let located = objects::of(&profile, &machine, &names);
            let exported = CodeExport {
                title: &title,
                lost: &lost,
                profile: &profile,
                events: &chosen_events(&profile, event, &options),
                objects: &located.objects,
                addresses: &located.addresses,
                inlines: options.recording.symbols.inlines,
            };
            let recorded = Recorded {
                input: &input,
                reader: &reader,
                machine: &machine,
            };
            match format {
                Format::Code(format) => write(path, |out| exported.write(format, out))?,
                _ => write_otlp(path, receiver.as_mut(), &exported, &recorded)?,
            }
        }
    }
    Ok(code::SUCCESS)
}

/// The parts of samples that a format shows.
fn collect_options(options: &ExportOptions, format: Format) -> CollectOptions {
    let by_address = format.is_by_address();
    CollectOptions {
        chains: true,
        chains_of_one: by_address,
        max_stack: options.max_stack,
        moments: format.needs_moments(),
        inlines: options.recording.symbols.inlines,
        addresses_apart: by_address,
        lines: by_address.then_some(LineText {
            whole_paths: true,
            known_only: true,
        }),
        ..CollectOptions::default()
    }
}

/// The events of a file that can hold all: the chosen one if there was a choice, else each that has samples.
fn chosen_events<'p>(
    profile: &'p Profile,
    chosen: &'p EventProfile,
    options: &ExportOptions,
) -> Vec<&'p EventProfile> {
    match options.event {
        Some(_) => vec![chosen],
        None => {
            let events = profile.events.iter();
            events.filter(|event| event.sample_count > 0).collect()
        }
    }
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
        Some(name) => match profile.events.iter().find(|event| event.name == *name) {
            Some(event) if event.sample_count == 0 => Err(Failure::new(format!(
                "{} has no samples of '{name}'; its events are: {}",
                path.display(),
                known()
            ))),
            Some(event) => Ok(event),
            None => Err(Failure::new(format!(
                "{} has no event '{name}'; it has: {}",
                path.display(),
                known()
            ))),
        },
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

/// Sends OpenTelemetry's profiles to a receiver, else writes them as one message.
fn write_otlp(
    path: Option<&PathBuf>,
    receiver: Option<&mut Receiver>,
    exported: &CodeExport<'_>,
    recorded: &Recorded<'_>,
) -> Result<(), Failure> {
    let Some(receiver) = receiver else {
        return otlp::messages(exported, recorded, MessageLimits::NONE, |message| {
            write(path, |out| message.write(out))
        });
    };
    otlp::messages(exported, recorded, push::MESSAGE, |message| {
        receiver.send(message)
    })?;
    receiver.report();
    Ok(())
}

/// Writes a file, or to standard output.
fn write(
    path: Option<&PathBuf>,
    exported: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut output = output::stdout();
        exported(&mut output)?;
        output.finish()?;
        return Ok(());
    };
    let written = || -> io::Result<()> {
        let mut output = Output::new(create_output(path)?);
        exported(&mut output)?;
        output.flush()
    };
    written().map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}
