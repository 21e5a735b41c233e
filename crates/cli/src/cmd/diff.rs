//! `diff`: two and more recordings side by side.

mod arguments;
mod flames;
mod options;
mod recording;

use std::thread::{Builder, ScopedJoinHandle};

use oxperf_analysis::diff::{DiffTable, Side, compare};
use oxperf_present::diff::{Compared, DiffDocument, StreamSide, streams, table};

use super::dump::{self, DumpRequest};
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::{report_chains, report_trouble};
use crate::output::print_error;
use crate::pager::{self, Habit};
use crate::symbol_source::{keep_learned, recalling_store, report_nameless};
use options::Comparison;
use recording::Recording;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "diff",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration)?;
        let _pager = pager::start(invocation, "diff", Habit::Paged);
        run(&options)
    },
    shares_work: true,
};

/// Runs `diff`.
fn run(options: &Comparison) -> Result<i32, Failure> {
    let quiet = options.recording.quiet;
    let mut inputs = open_all(&options.files, options.recording.input.force)?;
    if options.streams {
        inputs.truncate(2);
    }
    if let Some(order) = options.dump {
        let packets = !options.recording.trace.off;
        let request = DumpRequest { order, packets };
        for input in &inputs {
            let output = crate::output::stdout();
            dump::report(request, quiet, input, &input.reader()?, output)?;
        }
    }
    oxperf_sys::heap::keep_freed_memory();
    let recordings = load(&inputs, options)?;
    for recording in recordings.iter().filter(|_| !quiet) {
        report_trouble(&recording.diagnostics);
        report_chains(&recording.profile.chain_losses);
    }
    if options.streams {
        write_streams(&recordings)?;
        return Ok(code::SUCCESS);
    }
    let events = events(&recordings, options);
    if let Some(path) = &options.flame_graph {
        flames::write(&recordings, &events, path)?;
        return Ok(code::SUCCESS);
    }
    write(&recordings, &events, options)?;
    Ok(code::SUCCESS)
}

/// Reads all recordings side by side.
fn load(inputs: &[Input], options: &Comparison) -> Result<Vec<Recording>, Failure> {
    let store = recalling_store(&options.recording.symbols)?;
    let read = |(input, nth)| Recording::load(input, nth, options, &store);
    let recordings = std::thread::scope(|scope| {
        // Where this thread is all that shares work, others would wait for it while it waits for them.
        let alone = rayon::current_thread_index().is_some();
        let begin = |recording| match alone {
            true => Err(recording),
            false => Builder::new()
                .spawn_scoped(scope, move || read(recording))
                .map_err(|_| recording),
        };
        let readers: Vec<_> = inputs.iter().zip(0..).map(begin).collect();
        let ended = || Failure::new("a reader of a recording ended early");
        let recording = |reader: Result<ScopedJoinHandle<'_, _>, _>| match reader {
            Ok(reader) => reader.join().map_err(|_| ended())?,
            // Without a thread of its own, it waits for its turn.
            Err(recording) => read(recording),
        };
        readers.into_iter().map(recording).collect()
    });
    keep_learned(&store);
    report_nameless(&store);
    recordings
}

/// Opens the recordings; the largest will be read longest, and tells how far it is.
fn open_all(files: &[String], force: bool) -> Result<Vec<Input>, Failure> {
    let inputs = files
        .iter()
        .map(|file| open(file, force))
        .collect::<Result<Vec<Input>, _>>()?;
    let largest = (0..inputs.len()).max_by_key(|&nth| inputs[nth].size());
    let quiet = |(nth, input): (usize, Input)| match Some(nth) == largest {
        true => input,
        false => input.without_progress(),
    };
    Ok(inputs.into_iter().enumerate().map(quiet).collect())
}

fn open(file: &str, force: bool) -> Result<Input, Failure> {
    Input::open(file, force).map_err(|failure| {
        print_error(&failure.to_string());
        Failure::new(format!("Failed to open {file}"))
    })
}

/// One event of all recordings.
struct Event<'a> {
    name: &'a str,
    sides: Vec<Side<'a>>,
    table: DiffTable,
}

/// The baseline's events with what became of them.
fn events<'a>(recordings: &'a [Recording], options: &Comparison) -> Vec<Event<'a>> {
    let Some(baseline) = recordings.first() else {
        return Vec::new();
    };
    let events = baseline
        .profile
        .events
        .iter()
        .enumerate()
        .map(|(at, event)| {
            let side = |(nth, recording): (usize, &'a Recording)| {
                // The baseline's event is itself, even if others are like it.
                let found = if nth == 0 {
                    Some(at)
                } else {
                    recording.event_like(baseline, at)
                };
                let table = found.and_then(|event| recording.table_of(event));
                Side {
                    profile: &recording.profile,
                    event: found,
                    table,
                }
            };
            let sides: Vec<Side<'a>> = recordings.iter().enumerate().map(side).collect();
            Event {
                name: &event.name,
                table: compare(&sides, &options.diff),
                sides,
            }
        });
    events.collect()
}

/// Writes the hot streams of the events that both recordings have.
fn write_streams(recordings: &[Recording]) -> Result<(), Failure> {
    let mut output = crate::output::stdout();
    if let [old, new] = recordings {
        for event in 0..old.profile.events.len() {
            let Some(like) = new.event_like(old, event) else {
                continue;
            };
            let hot = (old.streams_of(event), new.streams_of(like));
            let old = StreamSide {
                profile: &old.profile,
                hot: &hot.0,
            };
            streams(
                &mut output,
                old,
                StreamSide {
                    profile: &new.profile,
                    hot: &hot.1,
                },
            )?;
        }
    }
    output.finish()?;
    Ok(())
}

/// Writes all tables, or all of them as one document.
fn write(
    recordings: &[Recording],
    events: &[Event<'_>],
    options: &Comparison,
) -> Result<(), Failure> {
    let compared: Vec<Compared<'_>> = events
        .iter()
        .map(|event| Compared {
            event: event.name,
            sides: &event.sides,
            table: &event.table,
        })
        .collect();
    let mut output = crate::output::stdout();
    if options.json {
        let files = recordings
            .iter()
            .map(|recording| (recording.file.clone(), recording.losses()));
        let files: Vec<_> = files.collect();
        let document = DiffDocument {
            method: options.diff.method,
            keys: &options.diff.keys,
            files: &files,
        };
        document.write(&compared, &mut output)?;
    } else {
        for (nth, compared) in compared.iter().enumerate() {
            table(&mut output, compared, &options.text, nth == 0)?;
        }
    }
    output.finish()?;
    Ok(())
}
