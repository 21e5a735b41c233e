//! `export --format parquet` of the recording of [`read`](super::read), and `query` over the tables and over the recording,
//! beside a report of functions by the same program: no other program makes such tables.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::results::keep;
use super::{Options, read, scale};
use crate::process::{Usage, measure};
use crate::workspace;

/// Samples of the recording.
const SAMPLES: f64 = 650_435.0;
/// Times that the recording stands in the long one: 16 million samples.
const TIMES: u64 = 25;
const REPORT: [&str; 4] = ["report", "--no-children", "-g", "none"];
const TOP_FUNCTIONS: &str = include_str!("../../../crates/columns/statements/top-self.sql");

/// Measures all of it.
pub(super) fn run(options: &Options) -> Result<()> {
    let Some(input) = read::input(&options.folder)? else {
        println!("SKIPPED: there is no ../shared/bench/cargo-build.data.zst to export");
        return Ok(());
    };
    let recording = &input.recording;
    let tables = options.folder.join("tables");
    let runs = |command: &dyn Fn() -> Result<Command>| {
        let runs = (0..options.runs).map(|_| run_quietly(command()?));
        runs.collect::<Result<Vec<Usage>>>()
    };
    let reports = runs(&|| Ok(ours(options, &REPORT, recording)))?;
    let exports = runs(&|| export(options, recording, &tables))?;
    keep_usage(options, "tables-export", &exports, &reports)?;
    println!("  {:.2} bytes a sample", size(&tables)? as f64 / SAMPLES);
    run_long(options, recording)?;

    let engine = workspace::root().join("query/target/release/oxperf-query");
    if !engine.is_file() {
        println!(
            "SKIPPED: query is measured when its engine is built: cargo build --release --manifest-path query/Cargo.toml"
        );
        return Ok(());
    }
    for (name, input) in [
        ("query-tables", tables.as_path()),
        ("query-recording", recording),
    ] {
        let queries = runs(&|| {
            let mut command = Command::new(&engine);
            command.arg("-i").arg(input).arg(TOP_FUNCTIONS);
            Ok(command)
        })?;
        keep_usage(options, name, &queries, &reports)?;
    }
    Ok(())
}

/// The recording many times over: what is distinct stays the same, and so should memory.
fn run_long(options: &Options, recording: &Path) -> Result<()> {
    let long = scale::repeated(recording, TIMES, &options.folder)?;
    let tables = options.folder.join("tables-long");
    let usage = run_quietly(export(options, &long, &tables)?);
    fs::remove_file(&long)?;
    let usage = usage?;
    println!(
        "  {:.1} million samples: {:.2} s of processors, {:.0} MB",
        SAMPLES * TIMES as f64 / 1e6,
        usage.cpu.as_secs_f64(),
        usage.peak as f64 / 1e6
    );
    fs::remove_dir_all(&tables)?;
    Ok(())
}

/// An export into an empty folder.
fn export(options: &Options, recording: &Path, tables: &Path) -> Result<Command> {
    if tables.exists() {
        fs::remove_dir_all(tables)?;
    }
    let mut command = ours(options, &["export", "--format", "parquet"], recording);
    command.arg("-o").arg(tables);
    Ok(command)
}

fn ours(options: &Options, words: &[&str], recording: &Path) -> Command {
    let mut command = Command::new(&options.binary);
    command.args(words).arg("-i").arg(recording);
    command
}

fn run_quietly(mut command: Command) -> Result<Usage> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let usage = measure(&mut command)?;
    ensure!(usage.success, "{command:?} failed");
    Ok(usage)
}

fn keep_usage(options: &Options, name: &str, ours: &[Usage], reports: &[Usage]) -> Result<()> {
    let figures = read::figures(ours, reports)?;
    keep(&options.folder, name, "report", &figures)
}

/// Bytes of all files of a folder.
fn size(folder: &Path) -> Result<u64> {
    let files = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}
