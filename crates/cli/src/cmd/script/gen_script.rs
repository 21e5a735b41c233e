//! `-g LANGUAGE`: a program to begin with, which reads the recording's events with `-s`.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use oxperf_abi::EventType;
use oxperf_present::script_template::{HandledEvent, Language};
use oxperf_session::EventTable;
use oxperf_tracepoint::Formatters;

use crate::failure::Failure;
use crate::output::print_line;
use oxperf_script::event_style::event_name;

/// The language of a name.
pub(super) fn language(name: &str) -> Result<Language, Failure> {
    let unknown = || {
        Failure::bad_option(format!(
            "unknown language '{name}': python and perl are known"
        ))
    };
    Language::parse(name).ok_or_else(unknown)
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
