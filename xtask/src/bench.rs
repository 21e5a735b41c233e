//! `bench`: oxperf and perf7 side by side in one run; only the ratios travel from machine to machine.

mod annotate;
mod decode;
mod events;
mod large;
mod libipt;
mod list;
mod long_trace;
mod names;
mod program;
mod read;
mod record;
mod results;
mod scale;
mod stacks;
mod stat;
mod tables;
mod traced;
mod workload;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::{binary, workspace};

/// Options of the command line.
struct Options {
    binary: PathBuf,
    /// Runs of ours.
    runs: usize,
    /// Runs of perf7; each measure has its own default.
    reference_runs: Option<usize>,
    /// Seconds of measures that take as long as one wants.
    seconds: usize,
    /// Processes that are started one after the other while they are recorded.
    processes: usize,
    /// `target/bench`.
    folder: PathBuf,
    /// Print what was measured as the table of docs/performance.md.
    table: bool,
}

/// The measures beside those of [`read`].
const OTHERS: [&str; 13] = [
    "annotate",
    "decode",
    "events",
    "large-dwarf",
    "list",
    "long-trace",
    "names",
    "pt",
    "record",
    "scale",
    "stacks",
    "stat",
    "tables",
];

/// Runs the measures named, or all.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let folder = workspace::scratch("bench")?;
    let options = Options {
        binary: installed(&binary::find(&mut args)?, &folder)?,
        runs: args.number("--runs")?.unwrap_or(5).max(1),
        reference_runs: args.number("--ref-runs")?,
        seconds: args.number("--seconds")?.unwrap_or(5),
        processes: args.number("--processes")?.unwrap_or(10_000),
        folder,
        table: args.flag("--table"),
    };
    let mut names = Vec::new();
    while let Some(name) = args.positional() {
        names.push(name);
    }
    args.finish()?;
    check_reference();
    for name in &names {
        if !read::MEASURES.iter().any(|measure| measure.name == name)
            && !OTHERS.contains(&name.as_str())
            && !record::SCENES.contains(&name.as_str())
        {
            bail!(
                "no measure {name:?}; there are {}, {}, {}",
                OTHERS.join(", "),
                record::SCENES.join(", "),
                read::names()
            );
        }
    }
    let kept_before = results::kept(&options.folder)?.len();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|word| word == name);
    read::run(&options, &wanted)?;
    if wanted("annotate") {
        annotate::run(&options)?;
    }
    if wanted("decode") {
        decode::run(&options)?;
    }
    if wanted("events") {
        events::run(&options)?;
    }
    if wanted("list") {
        list::run(&options)?;
    }
    if wanted("long-trace") {
        long_trace::run(&options)?;
    }
    if wanted("large-dwarf") {
        large::run(&options)?;
    }
    if wanted("names") {
        names::run(&options)?;
    }
    if wanted("pt") {
        traced::run(&options)?;
    }
    record::run(&options, &wanted)?;
    if wanted("scale") {
        scale::run(&options)?;
    }
    if wanted("stacks") {
        stacks::run(&options)?;
    }
    if wanted("stat") {
        stat::run(&options)?;
    }
    if wanted("tables") {
        tables::run(&options)?;
    }
    if options.table {
        let kept = results::kept(&options.folder)?;
        println!("\n{}", results::table(&kept[kept_before..]));
    }
    println!(
        "results are kept in {}",
        options.folder.join("results.jsonl").display()
    );
    Ok(ExitCode::SUCCESS)
}

/// A copy of the program, as an installation makes one and perf7 is one. A linker writes a program page by page, and single
/// pages is what the kernel keeps of it in memory until the file is read again from the disk: each start maps them one by
/// one, which takes longer than the large pages of a copy.
fn installed(binary: &Path, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join("oxperf");
    let bytes = fs::read(binary).with_context(|| binary.display().to_string())?;
    // A new file: the one of an earlier run may still be running.
    if copy.exists() {
        fs::remove_file(&copy)?;
    }
    fs::write(&copy, bytes)?;
    fs::set_permissions(&copy, fs::metadata(binary)?.permissions())?;
    Ok(copy)
}

/// The reference tool, when it is installed.
fn reference() -> Option<&'static Path> {
    let found = Command::new("perf7")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    found
        .is_ok_and(|status| status.success())
        .then_some(Path::new("perf7"))
}

fn check_reference() {
    if reference().is_none() {
        println!(
            "perf7 is not installed (../shared/tools/get-perf-latest installs it): no ratios, our figures alone"
        );
    }
}

/// The middle value; the lower one of two.
fn median(mut values: Vec<f64>) -> Result<f64> {
    values.sort_by(f64::total_cmp);
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .context("nothing was measured")
}
