//! `sweep`: our text against perf's over the recorded fixtures and those of Intel PT, and no crash over the public ones.

pub(crate) mod accepted;
mod case;
mod clients;
mod compare;
mod differential;
pub(crate) mod events;
mod lines;
mod lists;
mod live;
mod metrics;
mod mutations;
mod options;
pub(crate) mod perf_tests;
mod public;
mod record;
mod recorded;
mod scope;
mod stacks;
mod stat;
pub(crate) mod symfs;
mod table;
mod traced;
mod truth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use crate::args::Args;
use crate::process::{Ended, Job, Limits};
use crate::{binary, workspace};

/// A command that needs more than this is a failure.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    memory_kib: 8 << 20,
};

/// Number of damaged recordings.
const MUTATIONS: usize = 20_000;
/// Number of damaged recordings that perf7 reads, too.
const BESIDE_PERF: usize = 600;

/// Options of the command line.
struct Options {
    binary: PathBuf,
    shared: PathBuf,
    scratch: PathBuf,
    /// Only cases whose `version/name` holds this.
    filter: String,
    /// Only goldens whose name begins with one of these; all when empty.
    only: Vec<String>,
    jobs: usize,
    /// Also run what belongs to later issues.
    all: bool,
}

/// Runs the comparison; fails when something that is meant to be identical is not, or anything crashes.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    if args.flag("--clients") {
        return clients::run(args);
    }
    if args.flag("--events") {
        return events::run(args);
    }
    if args.flag("--metrics") {
        return metrics::run(args);
    }
    if args.flag("--perf-tests") {
        return perf_tests::run(args);
    }
    if args.flag("--stacks") {
        return stacks::run(args);
    }
    let Some(shared) = workspace::shared().filter(|path| path.join("fixtures/recorded").is_dir())
    else {
        println!(
            "SKIPPED: there is no ../shared/fixtures (OXPERF_SHARED names another place); nothing was compared"
        );
        return Ok(ExitCode::SUCCESS);
    };
    let (recorded, public) = (!args.flag("--no-recorded"), !args.flag("--no-public"));
    let traced = !args.flag("--no-pt");
    let lines_alone = args.flag("--lines");
    let lists_alone = args.flag("--list");
    let stat_alone = args.flag("--stat");
    let record_alone = args.flag("--record");
    let mutations = args.number("--mutations")?.unwrap_or(MUTATIONS);
    let beside_perf = args.number("--differential")?.unwrap_or(BESIDE_PERF);
    let options = options(args, shared)?;
    if lines_alone {
        return Ok(exit_code(lines::sweep(&options)?));
    }
    if lists_alone {
        return Ok(exit_code(lists::sweep(&options)?));
    }
    if stat_alone {
        return Ok(exit_code(stat::sweep(&options)?));
    }
    if record_alone {
        return Ok(exit_code(record::sweep(&options)?));
    }
    // The mutations come first: a process begins with the peak of memory of the one that starts it, and the texts that
    // are compared afterwards are large.
    let mut good = !options.only.is_empty() || mutations::sweep(&options, mutations)?;
    if options.only.is_empty() {
        good &= differential::sweep(&options, beside_perf)?;
    }
    if recorded {
        good &= recorded::sweep(&options)?;
        good &= live::sweep(&options)?;
    }
    if traced {
        good &= traced::sweep(&options)?;
    }
    if public && options.only.is_empty() {
        good &= public::sweep(&options)?;
    }
    if options.only.is_empty() {
        good &= lines::sweep(&options)?;
        good &= lists::sweep(&options)?;
        good &= stat::sweep(&options)?;
        good &= record::sweep(&options)?;
    }
    Ok(exit_code(good))
}

fn exit_code(good: bool) -> ExitCode {
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns true if a text is among those that were asked for.
fn is_asked_for(text: &str, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|start| text.starts_with(start.as_str()))
}

fn options(mut args: Args, shared: PathBuf) -> Result<Options> {
    let options = Options {
        filter: args.value("--filter")?.unwrap_or_default(),
        only: args
            .value("--only")?
            .map(|list| list.split(',').map(str::to_owned).collect())
            .unwrap_or_default(),
        jobs: args.number("--jobs")?.unwrap_or(2).max(1),
        all: args.flag("--all"),
        binary: binary::find(&mut args)?,
        scratch: workspace::scratch("sweep")?,
        shared,
    };
    args.finish()?;
    Ok(options)
}

/// Runs a command of a program over a recording, its texts in `folder`; gives how it ended and what it said of errors.
fn read(
    words: &[&str],
    input: &Path,
    folder: &Path,
    program: &Path,
    limits: Limits,
) -> Result<(Ended, String)> {
    let mut args: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    args.extend(["-i".to_owned(), input.display().to_string()]);
    let stderr = folder.join("stderr");
    let job = Job {
        program,
        args: &args,
        folder,
        home: folder,
        stdout: folder.join("stdout"),
        stderr: stderr.clone(),
    };
    let ended = job.run(limits)?;
    Ok((
        ended,
        String::from_utf8_lossy(&std::fs::read(stderr)?).into_owned(),
    ))
}
