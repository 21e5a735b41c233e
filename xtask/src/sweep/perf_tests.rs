//! `sweep --perf-tests`: perf's own test scripts with oxperf as `perf`, beside the same with perf 7.2.
//!
//! Scripts run one after another, each in a folder, a home and a `/tmp` of its own, under a limit of time. Their states
//! and the reasons of those that perf 7.2 alone passes stand in `xtask/perf-tests.tsv`, of which docs/perf-tests.md is
//! made.

pub(crate) mod launcher;
mod programs;
mod state;
mod suite;
pub(crate) mod table;
mod trial;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};

use self::programs::Side;
use self::state::State;
use self::suite::Test;
use self::table::Row;
use crate::args::Args;
use crate::parallel::parallel;
use crate::{binary, workspace};

/// Where `get-perf-latest` installs perf 7.2.
const PREFIX: &str = "/opt/perf-latest";

/// Options of the command line.
struct Options {
    /// Only tests whose name holds one of these; all when empty.
    filters: Vec<String>,
    jobs: usize,
    /// Also runs oxperf with every command that it does not have lent by perf 7.2.
    lend: bool,
    /// Writes the states to the list, and the page of the list.
    table: bool,
    /// Folder below which perf 7.2 is installed.
    prefix: PathBuf,
    ours: PathBuf,
    scratch: PathBuf,
}

/// States of one test, by side.
type States = BTreeMap<Side, State>;

/// Runs the tests and prints who passes what; fails when perf 7.2 alone passes a test and no reason is listed.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let options = options(args)?;
    if let Some(missing) = suite::missing(&options.prefix) {
        println!("SKIPPED: perf's tests, for want of {missing}");
        return Ok(ExitCode::SUCCESS);
    }
    let programs = programs::lay_out(&options)?;
    let tests = suite::tests(&options)?;
    println!(
        "{} tests; outputs are kept in {}",
        tests.len(),
        options.scratch.join("outputs").display()
    );
    let sides = Side::wanted(options.lend);
    let found = parallel(options.jobs, &tests, |_, test| -> Result<States> {
        let run = |side: &Side| Ok((*side, trial::run(test, &programs, *side, &options)?));
        let states = sides.iter().map(run).collect::<Result<States>>()?;
        print_line(test, &states);
        Ok(states)
    });
    let found = found.into_iter().collect::<Result<Vec<States>>>()?;
    judge(&options, &tests, &found)
}

fn options(mut args: Args) -> Result<Options> {
    let table = args.flag("--table");
    let lend = args.flag("--lend") || table;
    let named = args.value("--ours")?.map(PathBuf::from);
    let options = Options {
        filters: args
            .value("--filter")?
            .map(|list| list.split(',').map(str::to_owned).collect())
            .unwrap_or_default(),
        jobs: args.number("--jobs")?.unwrap_or(1).max(1),
        lend,
        table,
        prefix: args
            .value("--prefix")?
            .map_or_else(|| PREFIX.into(), PathBuf::from),
        ours: match named {
            Some(path) => path.canonicalize()?,
            None => binary::find(&mut args)?,
        },
        scratch: workspace::scratch("sweep/perf-tests")?.canonicalize()?,
    };
    args.finish()?;
    ensure!(
        !options.scratch.starts_with("/tmp"),
        "the target folder must not be below /tmp: each test gets a /tmp of its own"
    );
    Ok(options)
}

fn print_line(test: &Test, states: &States) {
    let words: Vec<String> = states
        .iter()
        .map(|(side, state)| format!("{} {:<5}", side.name(), state.word()))
        .collect();
    println!("{:<48} {}", test.name, words.join("  "));
}

/// Prints counts, and what perf 7.2 alone passes with its reason; writes the list where that was asked for.
fn judge(options: &Options, tests: &[Test], found: &[States]) -> Result<ExitCode> {
    let mut list = table::read()?;
    for (test, states) in tests.iter().zip(found) {
        table::update(&mut list, Row::new(&test.name, states));
    }
    let rows: Vec<&Row> = tests
        .iter()
        .filter_map(|test| table::find(&list, &test.name))
        .collect();
    println!("\n{}", table::counts(&rows));
    let without_reason: Vec<&&Row> = rows
        .iter()
        .filter(|row| row.needs_reason() && row.reason.is_none())
        .collect();
    for row in rows.iter().filter(|row| row.needs_reason()) {
        println!(
            "perf7 alone: {:<40} {}",
            row.name,
            row.reason
                .as_deref()
                .unwrap_or("NO REASON in xtask/perf-tests.tsv")
        );
    }
    if options.table {
        table::write(&list)?;
        println!("xtask/perf-tests.tsv and docs/perf-tests.md are written");
    }
    Ok(if without_reason.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
