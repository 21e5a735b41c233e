//! The `oxperf` command: options in, exit code out.
//!
//! Linked under the name `perf` it calls itself `perf`; nothing else depends on its name.

mod app;
mod bundled;
mod cmd;
mod code;
mod collect;
mod config;
mod data_types;
mod environment;
mod failure;
mod filter;
mod guests;
mod header;
mod input;
mod itrace;
mod learned_cache;
mod naming;
mod output;
mod packing;
mod progress;
mod resources;
mod separator;
mod source_text;
mod stitch;
mod switching;
mod texts;
mod time_windows;
mod unpacking;

fn main() -> std::process::ExitCode {
    resources::explain_panics();
    let outcome = app::run(std::env::args_os());
    app::exit(outcome)
}
