//! `profile`: record a program, show where its time went, draw the flame graph.

mod arguments;
mod flame_graph;
mod hottest;
mod program;
mod stacks;

use std::path::{Path, PathBuf};

use oxperf_collect::CollectOptions;
use oxperf_present::top_table::NextStep;
use oxperf_query::{Filter, SymbolOptions};
use oxperf_symbols::{StoreOptions, SymbolStore};

use super::record::{self, Performed, RecordCommand};
use crate::cmd::Entry;
use crate::failure::Failure;
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::losses::losses;

pub(crate) use arguments::{command, run};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "profile",
    command,
    run,
    shares_work: true,
};

/// Most callers of a sample in the flame graph.
const MAX_STACK: usize = 127;

/// The options of the command.
struct ProfileCommand {
    record: RecordCommand,
    symbols: SymbolOptions,
    /// The file of the flame graph.
    page: PathBuf,
    /// Title of the flame graph.
    title: String,
    /// Functions in the table.
    max_rows: usize,
}

/// Records and shows; the exit code is the workload's.
fn perform(command: &ProfileCommand, program: &str) -> Result<i32, Failure> {
    let outcome = match record::perform(&command.record, program)? {
        Performed::Recorded(outcome) => outcome,
        Performed::Nothing(exit) => return Ok(exit),
    };
    if let Some(recording) = record::recorded_file(&outcome) {
        show(command, program, recording)?;
    }
    record::end_as(&outcome)
}

/// Prints the table and writes the flame graph.
fn show(command: &ProfileCommand, program: &str, recording: &Path) -> Result<(), Failure> {
    let input = Input::open(&recording.to_string_lossy(), true)?;
    let reader = input.reader()?;
    let store = SymbolStore::new(StoreOptions::default());
    let collect = CollectOptions {
        chains: true,
        max_stack: MAX_STACK,
        ..CollectOptions::default()
    };
    let filter = Filter::default();
    let options = LoadOptions::new(&command.symbols, &filter, collect);
    let Loaded {
        profile,
        diagnostics,
        ..
    } = load(&input, &reader, &store, options)?;
    let lost = losses(&profile, &diagnostics);
    let page = command.page.display().to_string();
    let [report, script] = ["report", "script"].map(|name| look_further(program, name, recording));
    let next = [
        NextStep {
            command: &page,
            shows: "the flame graph: open it in a browser",
        },
        NextStep {
            command: &report,
            shows: "callers and callees of every function",
        },
        NextStep {
            command: &script,
            shows: "every sample with its call chain",
        },
    ];
    hottest::print(&profile, command.max_rows, &lost, &next)?;
    flame_graph::write(&profile, &command.title, &lost, &command.page)
}

/// The command line of a command that shows more of the recording.
fn look_further(program: &str, command: &str, recording: &Path) -> String {
    if recording == Path::new("perf.data") {
        format!("{program} {command}")
    } else {
        format!("{program} {command} -i {}", recording.display())
    }
}
