//! `oxperf-query`: the command `query` of `oxperf` with its SQL engine, which is DataFusion.
//!
//! Options, sources of names and messages are those of `oxperf`; what stands here is the engine alone: recordings and
//! Parquet files as its tables, and its results as text, files and pages.

mod arrow_rows;
mod catalog;
mod condition;
mod engine;
mod flame;
mod inputs;
mod losses;
mod output;
mod parquet_files;
mod prompt;
mod recorded_table;
mod recordings;
mod stack_tables;
mod statements;

use std::process::ExitCode;

fn main() -> ExitCode {
    oxperf::explain_panics();
    oxperf::run_with_engine(std::env::args_os(), &engine::DataFusionEngine)
}
