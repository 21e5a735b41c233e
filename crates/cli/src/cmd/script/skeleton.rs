//! `-g LANGUAGE`: a program to begin with, which reads the recording's events with `-s`.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use clap::{Arg, ArgMatches};
use oxperf_abi::EventType;
use oxperf_present::event_program::{HandledEvent, Language};
use oxperf_session::EventTable;
use oxperf_tracepoint::Formatters;

use super::view::event_name;
use crate::failure::Failure;
use crate::output::print_line;

/// The option.
pub(super) fn argument() -> Arg {
    Arg::new("gen-script").short('g').long("gen-script").value_name("LANGUAGE").help(
        "Write a program to begin with, perf-script.py or .pl, with a function for each event; -s runs it",
    )
}

/// The language that was asked for.
pub(super) fn language(matches: &ArgMatches) -> Result<Option<Language>, Failure> {
    let Some(name) = matches.get_one::<String>("gen-script") else {
        return Ok(None);
    };
    let unknown = || {
        Failure::bad_option(format!(
            "unknown language '{name}': python and perl are known"
        ))
    };
    Language::parse(name).map(Some).ok_or_else(unknown)
}

/// Writes the program into this folder. One that is there stays: it may have been worked on.
pub(super) fn write(
    language: Language,
    events: &EventTable,
    formatters: &Formatters,
) -> Result<(), Failure> {
    let path = PathBuf::from(format!("perf-script.{}", language.suffix()));
    let failed = |error: std::io::Error| {
        let hint = match error.kind() {
            ErrorKind::AlreadyExists => "\nMove it away, or work in another folder",
            _ => "",
        };
        Failure::new(format!("cannot write {}: {error}{hint}", path.display()))
    };
    let mut text = Vec::new();
    language
        .write(&handled(events, formatters), &mut text)
        .map_err(failed)?;
    File::create_new(&path)
        .and_then(|mut file| file.write_all(&text))
        .map_err(failed)?;
    print_line(&format!(
        "generated {} script: {}",
        language.name(),
        path.display()
    ))?;
    Ok(())
}

fn handled(events: &EventTable, formatters: &Formatters) -> Vec<HandledEvent> {
    let fields = |config| {
        let formatter = formatters.get(config)?;
        // What every tracepoint records stands in each sample anyway.
        Some(
            formatter
                .event()
                .fields
                .iter()
                .map(|field| field.name.clone())
                .collect(),
        )
    };
    let mut handled: Vec<HandledEvent> = Vec::new();
    for event in events.events() {
        let name = event_name(event, formatters);
        if handled.iter().all(|known| known.name != name) {
            let traced = event.attr.kind == EventType::TRACEPOINT;
            let fields = traced
                .then(|| fields(event.attr.config))
                .flatten()
                .unwrap_or_default();
            handled.push(HandledEvent { name, fields });
        }
    }
    handled
}
