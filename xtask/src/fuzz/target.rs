//! One fuzz target: a run of it, and what libFuzzer printed about it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use super::build;
use crate::workspace;

/// Seconds of wall time that one input may take; a busy machine is given its time.
const TIMEOUT: u32 = 20;
/// MiB of memory that a target may take.
const MEMORY: u32 = 2048;
/// Seconds for each target, where nothing else is said.
const SECONDS: usize = 20;
/// Targets that run commands in-process: what these print is not looked at.
const PRINTING: [&str; 2] = ["bundle", "command_line"];

/// Limits of a run.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    seconds: Option<usize>,
    runs: Option<usize>,
    /// What random choices begin with; another number each time without it.
    seed: Option<usize>,
}

impl Budget {
    /// After so many seconds or executions, whichever comes first; without either, after [`SECONDS`].
    pub(super) fn new(seconds: Option<usize>, runs: Option<usize>, seed: Option<usize>) -> Budget {
        Budget {
            seconds: seconds.or(runs.is_none().then_some(SECONDS)),
            runs,
            seed,
        }
    }

    fn flags(self) -> impl Iterator<Item = String> {
        let seconds = self
            .seconds
            .map(|seconds| format!("-max_total_time={seconds}"));
        let runs = self.runs.map(|runs| format!("-runs={runs}"));
        seconds
            .into_iter()
            .chain(runs)
            .chain(self.seed.map(|seed| format!("-seed={seed}")))
    }
}

/// A fuzz target.
pub(super) struct Target {
    pub(super) name: String,
    pub(super) program: PathBuf,
}

/// Outcome of a run.
pub(super) struct Ran {
    pub(super) executions: u64,
    pub(super) seconds: f64,
    pub(super) new_inputs: u64,
    /// What went wrong, with the command that repeats it.
    pub(super) fault: Option<String>,
}

impl Ran {
    /// The outcome in a word.
    pub(super) fn word(&self) -> &'static str {
        if self.fault.is_some() { "BAD" } else { "clean" }
    }
}

impl Target {
    /// The folder of its committed inputs, which need not exist.
    pub(super) fn corpus(&self) -> PathBuf {
        build::folder().join("corpus").join(&self.name)
    }

    /// The program with a home of its own, empty, where its temporary files go, too.
    pub(super) fn command(&self) -> Result<Command> {
        let home = workspace::scratch("fuzz-home")?.join(&self.name);
        if home.exists() {
            std::fs::remove_dir_all(&home)?;
        }
        std::fs::create_dir_all(&home)?;
        let mut command = Command::new(&self.program);
        command
            .current_dir(&home)
            .env("HOME", &home)
            .env("XDG_CACHE_HOME", home.join("cache"));
        command.env("TMPDIR", &home);
        command
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env_remove("PERF_CONFIG")
            .env_remove("DEBUGINFOD_URLS")
            .stdin(Stdio::null());
        command.args([
            format!("-timeout={TIMEOUT}"),
            format!("-rss_limit_mb={MEMORY}"),
        ]);
        if PRINTING.contains(&self.name.as_str()) {
            command.arg("-close_fd_mask=3");
        }
        Ok(command)
    }

    /// Fuzzes from the committed inputs and those in `found`, where new ones go.
    pub(super) fn run(&self, found: &Path, budget: Budget) -> Result<Ran> {
        let artifacts = build::folder().join("artifacts").join(&self.name);
        std::fs::create_dir_all(&artifacts)?;
        let log = found.with_extension("log");
        let mut command = self.command()?;
        command
            .args(["-print_final_stats=1", "-verbosity=1", "-reload=0"])
            .args(budget.flags());
        command
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(found);
        command.args(Some(self.corpus()).filter(|corpus| corpus.is_dir()));
        command.stdout(Stdio::null()).stderr(File::create(&log)?);
        let start = Instant::now();
        let status = command
            .status()
            .with_context(|| self.program.display().to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
        let fault = (!status.success()).then(|| self.fault(&text, &log));
        let number = |name: &str| statistic(&text, name).unwrap_or(0);
        let (executions, new_inputs) = (
            number("number_of_executed_units"),
            number("new_units_added"),
        );
        Ok(Ran {
            executions,
            seconds,
            new_inputs,
            fault,
        })
    }

    /// Returns what is worth knowing of a failed run.
    fn fault(&self, text: &str, log: &Path) -> String {
        let panicked = text
            .lines()
            .skip_while(|line| !line.contains("panicked at"))
            .take(2);
        let error = text.lines().find(|line| line.contains("ERROR: libFuzzer"));
        let why = panicked.chain(error).collect::<Vec<_>>().join("\n  ");
        let input = text
            .lines()
            .find_map(|line| line.split_once("Test unit written to ")?.1.into());
        let repeat = input.map_or_else(
            || format!("see {}", log.display()),
            |input: &str| format!("repeat: {} {input}", self.program.display()),
        );
        format!("BAD {}: {why}\n  {repeat}", self.name)
    }
}

/// A number that libFuzzer prints at its end.
fn statistic(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name))?;
    line.trim_start_matches(':').trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "thread '<unnamed>' panicked at crates/x/src/y.rs:1:2:\nindex out of bounds\n\
        ==1== ERROR: libFuzzer: deadly signal\nartifact_prefix='/a/'; Test unit written to /a/crash-1\n\
        stat::number_of_executed_units: 4711\nstat::new_units_added:          12\n";

    #[test]
    fn what_a_run_printed_is_read() {
        assert_eq!(statistic(LOG, "number_of_executed_units"), Some(4711));
        assert_eq!(statistic(LOG, "new_units_added"), Some(12));
        assert_eq!(statistic(LOG, "peak_rss_mb"), None);
        let target = Target {
            name: "x".into(),
            program: "/t/x".into(),
        };
        let fault = target.fault(LOG, Path::new("/log"));
        assert!(
            fault.contains("crates/x/src/y.rs:1:2:\n  index out of bounds"),
            "{fault}"
        );
        assert!(fault.ends_with("repeat: /t/x /a/crash-1"), "{fault}");
        assert!(target.fault("", Path::new("/log")).ends_with("see /log"));
    }

    #[test]
    fn a_run_always_ends() {
        let flags = |seconds, runs| {
            Budget::new(seconds, runs, Some(7))
                .flags()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(flags(None, None), "-max_total_time=20 -seed=7");
        assert_eq!(flags(None, Some(5)), "-runs=5 -seed=7");
        assert_eq!(flags(Some(3), Some(5)), "-max_total_time=3 -runs=5 -seed=7");
    }
}
