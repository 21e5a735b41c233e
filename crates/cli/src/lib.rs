//! The `oxperf` command: options in, exit code out.
//!
//! The program is a call of [`run`]; fuzzing calls it, too. Linked under the name `perf` it calls itself `perf`; nothing
//! else depends on its name.

mod alias;
mod app;
mod arguments;
mod bundled;
mod cmd;
mod completion;
mod configuration;
mod data_types;
mod disasm_source;
mod environment;
mod event_tables;
mod failure;
mod features;
mod globals;
mod header;
mod input;
mod itrace_log;
mod learned_cache;
mod load;
mod losses;
mod manual;
mod output;
mod packing;
mod pager;
mod progress;
mod recording_options;
mod resources;
mod separator;
pub mod sql;
mod stitch;
mod symbol_source;
mod unpacking;
mod usage;
mod wall_time;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

pub use resources::explain_panics;

/// Runs the command line, of which the first word is the name of the program: prints what it has to say, and gives the
/// code for the shell.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    app::exit(app::run(arguments, None))
}

/// Runs the command line as [`run`] does, with an engine for `query`.
pub fn run_with_engine(
    arguments: impl Iterator<Item = OsString>,
    engine: &'static dyn sql::SqlEngine,
) -> ExitCode {
    app::exit(app::run(arguments, Some(engine)))
}
