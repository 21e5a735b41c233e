//! `export --format parquet`: recordings as tables in a folder.

use std::path::Path;

use super::arguments::ExportOptions;
use crate::failure::Failure;

/// Writes the tables of each recording.
#[cfg(feature = "parquet")]
pub(super) fn write(options: &ExportOptions) -> Result<i32, Failure> {
    let folder = folder(options)?;
    if options.tables.inputs.len() > 1 {
        recording::refuse_known(options, folder)?;
    }
    for input in &options.tables.inputs {
        recording::write(options, input, folder)?;
    }
    Ok(crate::failure::code::SUCCESS)
}

/// Says that this program cannot.
#[cfg(not(feature = "parquet"))]
pub(super) fn write(options: &ExportOptions) -> Result<i32, Failure> {
    folder(options)?;
    Err(Failure::new(
        "this program was built without Parquet: build it with the feature `parquet`",
    ))
}

fn folder(options: &ExportOptions) -> Result<&Path, Failure> {
    let folder = options.output.as_deref();
    folder.ok_or_else(|| Failure::bad_option("parquet is a folder of files: name it with -o DIR"))
}

#[cfg(feature = "parquet")]
mod recording {
    //! One recording.

    use std::path::Path;

    use oxperf_columns::parquet::{ExportedRecording, Folder, StackNumbers, WrittenFile};
    use oxperf_columns::schema::SAMPLES;
    use oxperf_columns::{
        RecordingFacts, StackColumns, TableOptions, TableWalkError, Walked, write_calls,
        write_tables,
    };
    use oxperf_data::Reader;
    use oxperf_query::{Filter, RecordingPart, TraceOptions, require_cpus};

    use super::ExportOptions;
    use crate::failure::Failure;
    use crate::input::{Input, InputOptions};
    use crate::losses::{report_chains, report_trouble};
    use crate::output::print_error;
    use crate::symbol_source;

    /// Writes the tables of a recording.
    pub(super) fn write(
        options: &ExportOptions,
        input: &InputOptions,
        folder: &Path,
    ) -> Result<(), Failure> {
        let input = Input::new(input)?;
        let reader = input.reader()?;
        let symbols = &options.recording.symbols;
        refuse_calls(options, &reader)?;
        let names = symbol_source::open(symbols, &input, &reader)?;
        require_cpus(&options.recording.filter, reader.events())?;
        let filter = Filter::new(&options.recording.filter, &reader)?;
        let file = input.path().to_string_lossy();
        let modified = Some(input.modified()).filter(|modified| *modified > 0);
        let facts =
            RecordingFacts::of(&reader, &file, modified).labelled(options.tables.labels.clone());
        let folder = Folder::open(folder, exported(options, &facts)).map_err(failure)?;
        let part = options.recording.filter.part;
        let progress = input.progress(false);
        let event = options.event.as_deref();
        let tables = TableOptions {
            samples: &SAMPLES,
            wants: &|_| true,
            max_stack: options.max_stack,
            stacks: Some(StackColumns {
                inlined: options.tables.inline,
                lines: options.tables.lines,
                addresses: options.tables.raw,
            }),
            filter: &filter,
            event,
            whole: part.is_none_or(RecordingPart::is_first),
            symbols,
            trace: options.trace.map(|trace| TraceOptions {
                itrace: trace.itrace,
                cores: trace.cores,
                symbols,
                recording: input.path(),
            }),
            progress: Some(&progress),
        };
        let refuse = |error| match error {
            TableWalkError::Data(error) => input.refuse(&error),
            other => failure(other),
        };
        let done = write_tables(&reader, &facts, &names, &tables, folder);
        let (walked, folder) = done.map_err(refuse)?;
        let folder = match follows_calls(options) {
            true => {
                write_calls(&reader, &facts, &names, &tables, folder)
                    .map_err(refuse)?
                    .1
            }
            false => folder,
        };
        drop(progress);
        symbol_source::keep(&names);
        report(&walked);
        symbol_source::report_nameless(names.otherwise());
        summarize(&walked, &folder.finish().map_err(failure)?);
        Ok(())
    }

    /// What of a recording is exported.
    fn exported(options: &ExportOptions, facts: &RecordingFacts) -> ExportedRecording {
        ExportedRecording {
            recording_id: facts.id,
            part: options.recording.filter.part,
            stacks: match options.tables.raw {
                true => StackNumbers::Raw,
                false => StackNumbers::Named,
            },
        }
    }

    /// Refuses several recordings if the folder has one of them, or if two are the same: none is written then. What can be
    /// read only once is not looked at.
    pub(super) fn refuse_known(options: &ExportOptions, folder: &Path) -> Result<(), Failure> {
        let mut known: Vec<(i64, &str)> = Vec::new();
        for input in &options.tables.inputs {
            let path = input.path.as_deref().unwrap_or_default();
            let kind = std::fs::metadata(path);
            if !kind.is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
                continue;
            }
            let opened = Input::new(input)?;
            let facts = RecordingFacts::of(&opened.reader()?, path, None);
            exported(options, &facts)
                .refuse_known(folder)
                .map_err(failure)?;
            if let Some((_, other)) = known.iter().find(|(id, _)| *id == facts.id) {
                return Err(Failure::new(format!(
                    "{other} and {path} are the same recording: its samples would count twice"
                )));
            }
            known.push((facts.id, path));
        }
        Ok(())
    }

    /// `true` if calls or returns are asked for: then those of the trace are a table.
    fn follows_calls(options: &ExportOptions) -> bool {
        let events = options.trace.map(|trace| trace.itrace.events);
        events.is_some_and(|events| events.calls || events.returns)
    }

    /// Calls are followed in a walk of their own, and are told apart by names.
    fn refuse_calls(options: &ExportOptions, reader: &Reader<'_>) -> Result<(), Failure> {
        if !follows_calls(options) {
            return Ok(());
        }
        if options.tables.raw {
            let why = "--raw leaves functions without names, by which calls are told: leave out c and r of --itrace";
            return Err(Failure::bad_option(why));
        }
        match reader.is_rereadable() {
            true => Ok(()),
            false => Err(Failure::bad_option(
                "calls of hardware trace (--itrace=cr) take a recording that can be read twice: write the pipe to a file first",
            )),
        }
    }

    fn report(walked: &Walked) {
        report_trouble(&walked.diagnostics);
        report_chains(&walked.chains);
    }

    /// Says what was written.
    fn summarize(walked: &Walked, written: &[WrittenFile]) {
        let bytes: u64 = written.iter().map(|file| file.size).sum();
        let samples = walked.span.samples;
        let each = bytes as f64 / samples.max(1) as f64;
        let folder = written.first().and_then(|file| file.path.parent());
        let folder = folder.unwrap_or(Path::new("")).display();
        let count = written.len();
        print_error(&format!(
            "{samples} samples in {count} files of {folder}: {bytes} bytes, {each:.1} a sample"
        ));
    }

    fn failure(error: impl std::fmt::Display) -> Failure {
        Failure::new(error.to_string())
    }
}
