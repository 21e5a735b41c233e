//! `fuzz`: every target of `fuzz/` for some seconds, from its committed inputs; any crash fails.
//!
//! The targets are built with the toolchain that is here, stable as it may be: libFuzzer needs the compiler's coverage
//! counters alone. `cargo fuzz` runs the same targets, where it is installed.

mod build;
mod corpus;
mod target;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::parallel::parallel;
use crate::process::in_path;
use target::{Budget, Ran, Target};

/// Options of the command line.
struct Options {
    budget: Budget,
    /// The names of the targets to run; all when empty.
    only: Vec<String>,
    jobs: usize,
    /// Folder in which inputs that reach new code are kept, and read again by the next run.
    found: Option<PathBuf>,
    /// Chooses the committed inputs anew, and does not fuzz.
    select: bool,
}

/// Builds the targets and runs them; fails when one crashed, hung or took too much memory.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let options = options(&mut args)?;
    args.finish()?;
    if in_path("c++").is_none() {
        println!("SKIPPED: libFuzzer needs a C++ compiler, and there is no c++; no target was run");
        return Ok(ExitCode::SUCCESS);
    }
    let targets = build::targets(&options.only)?;
    build::build(&targets)?;
    if options.select {
        targets
            .iter()
            .try_for_each(|target| corpus::select(target, options.found.as_deref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let ran = parallel(options.jobs, &targets, |_, target| one(target, &options));
    let ran: Vec<Ran> = ran.into_iter().collect::<Result<_>>()?;
    Ok(print(&targets, &ran))
}

fn options(args: &mut Args) -> Result<Options> {
    let seconds = args.number("--seconds")?;
    let runs = args.number("--runs")?;
    let seed = args.number("--seed")?;
    let only = args
        .value("--target")?
        .map(|list| list.split(',').map(str::to_owned).collect());
    Ok(Options {
        budget: Budget::new(seconds, runs, seed),
        only: only.unwrap_or_default(),
        jobs: args.number("--jobs")?.unwrap_or(2).max(1),
        found: args.value("--found")?.map(PathBuf::from),
        select: args.flag("--select-corpus"),
    })
}

fn one(target: &Target, options: &Options) -> Result<Ran> {
    let folder = found_folder(target, options.found.as_deref())?;
    let ran = target.run(&folder, options.budget)?;
    println!("{:<16} {}", target.name, ran.word());
    Ok(ran)
}

/// The folder for new inputs: one that is kept, or an empty one below the target directory.
fn found_folder(target: &Target, found: Option<&Path>) -> Result<PathBuf> {
    let folder = match found {
        Some(found) => std::path::absolute(found)?.join(&target.name),
        None => build::target_dir().join("found").join(&target.name),
    };
    if found.is_none() && folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The table and the totals.
fn print(targets: &[Target], ran: &[Ran]) -> ExitCode {
    println!(
        "\n{:<16} {:>12} {:>8} {:>9} {:>10}",
        "target", "executions", "seconds", "exec/s", "new inputs"
    );
    for (target, ran) in targets.iter().zip(ran) {
        let rate = ran.executions as f64 / ran.seconds.max(0.001);
        println!(
            "{:<16} {:>12} {:>8.1} {rate:>9.0} {:>10}  {}",
            target.name,
            ran.executions,
            ran.seconds,
            ran.new_inputs,
            ran.word()
        );
    }
    let executions: u64 = ran.iter().map(|ran| ran.executions).sum();
    let seconds: f64 = ran.iter().map(|ran| ran.seconds).sum();
    let bad: Vec<&Ran> = ran.iter().filter(|ran| ran.fault.is_some()).collect();
    println!(
        "{:<16} {executions:>12} {seconds:>8.1}  {} BAD",
        "total",
        bad.len()
    );
    bad.iter()
        .filter_map(|ran| ran.fault.as_ref())
        .for_each(|fault| println!("\n{fault}"));
    if bad.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Fails for a name that no target has.
fn check_names(asked: &[String], known: &[String]) -> Result<()> {
    match asked.iter().find(|name| !known.contains(name)) {
        Some(name) => bail!("no fuzz target {name:?}; there are: {}", known.join(", ")),
        None => Ok(()),
    }
}
