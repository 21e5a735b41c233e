//! `-g LANGUAGE` or `-g FILE`: a program to begin with, which reads the recording's events with `-s`.

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

/// A program to be written.
pub(super) struct NewProgram {
    language: Language,
    path: PathBuf,
}

impl NewProgram {
    /// The program of a language, or of a file whose suffix says its language.
    pub(super) fn of(name: &str) -> Result<NewProgram, Failure> {
        let named = |language: Language| NewProgram {
            language,
            path: PathBuf::from(format!("perf-script.{}", language.suffix())),
        };
        let path = PathBuf::from(name);
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        let of_file = || {
            let language = suffix.and_then(Language::parse)?;
            Some(NewProgram {
                language,
                path: path.clone(),
            })
        };
        let program = Language::parse(name).map(named).or_else(of_file);
        program.ok_or_else(|| {
            Failure::bad_option(format!(
                "unknown language '{name}': python, perl, FILE.py and FILE.pl are known"
            ))
        })
    }
}

/// Writes the program. One that is there stays: it may have been worked on.
pub(super) fn write(
    program: NewProgram,
    events: &EventTable,
    formatters: &Formatters,
) -> Result<(), Failure> {
    let NewProgram { language, path } = program;
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
