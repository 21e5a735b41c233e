//! Whole runs of a measurement: kept in a file, compared with an earlier measurement, judged by how much they grew.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use oxperf_abi::Tid;
use oxperf_analysis::counts::{
    CountEvent, MeasuredEvent, MeasuredRun, MeasuredRuns, RunComparison, RunOrigin,
};
use oxperf_capture::count::{CountOutcome, CountedEvent};
use oxperf_capture::host_files::HostFiles;
use oxperf_present::counts::{
    ComparisonPage, CountForm, CountSubject, comparison, read_runs, write_runs,
};
use oxperf_sys::Sysfs;

use super::measure::Readings;
use super::options::StatCommand;
use super::{events, reasons};
use crate::environment;
use crate::failure::Failure;

/// The exit code where something grew by more than `--fail-over` allows.
pub(super) const GROWN: i32 = 3;

/// The beginning of a recording.
const RECORDING: &[u8] = b"PERFILE2";

/// What becomes of whole runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct RunsOptions {
    /// The file that is written.
    pub(super) file: Option<PathBuf>,
    /// The file of an earlier measurement, which the runs are compared with in place of the table.
    pub(super) baseline: Option<PathBuf>,
    /// So many percent more than in the earlier measurement are a failure.
    pub(super) limit: Option<GrowthLimit>,
}

impl RunsOptions {
    /// Returns whether runs are kept at all.
    pub(super) fn keeps_runs(&self) -> bool {
        self.file.is_some() || self.baseline.is_some()
    }
}

/// An earlier measurement.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Baseline {
    /// Its file.
    pub(super) name: String,
    /// Its runs.
    pub(super) runs: MeasuredRuns,
}

impl Baseline {
    /// Reads an earlier measurement.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("failed to read {}: {error}", path.display()))
        };
        let text = std::fs::read(path).map_err(|error| failed(&error))?;
        if text.starts_with(RECORDING) {
            return Err(failed(
                &"it is a recording, which holds one run; stat --json-runs keeps runs to compare",
            ));
        }
        Ok(Baseline {
            name: path.display().to_string(),
            runs: read_runs(&text).map_err(|error| failed(&error))?,
        })
    }

    /// The runs with the name of their file.
    pub(super) fn named(&self) -> NamedRuns<'_> {
        NamedRuns {
            name: &self.name,
            runs: &self.runs,
        }
    }
}

/// The percentage by which a count may grow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct GrowthLimit(pub(super) f64);

/// Keeps the runs of a measurement that goes on.
pub(super) struct RunKeeper {
    runs: MeasuredRuns,
    scales: bool,
}

impl RunKeeper {
    /// Begins a measurement.
    pub(super) fn new(command: &StatCommand) -> RunKeeper {
        RunKeeper {
            runs: MeasuredRuns {
                origin: origin(&command.subject, &command.options.sysfs),
                ..MeasuredRuns::default()
            },
            scales: command.scales,
        }
    }

    /// Takes the events of the first run; those of later runs are the same.
    pub(super) fn opened(&mut self, counted: &[CountedEvent], threads: &[Tid]) {
        if self.runs.runs.is_empty() {
            let shown = events::shown(counted, threads).into_iter();
            self.runs.events = shown.zip(counted).map(measured_event).collect();
        }
    }

    /// Takes a run that is over.
    pub(super) fn run_ended(&mut self, counted: &Readings, outcome: &CountOutcome) {
        self.runs.push(measured_run(outcome), counted, self.scales);
    }

    /// The runs.
    pub(super) fn into_runs(self) -> MeasuredRuns {
        self.runs
    }
}

fn measured_event((shown, counted): (CountEvent, &CountedEvent)) -> MeasuredEvent {
    MeasuredEvent {
        name: shown.name,
        pmu: shown.pmu,
        cgroup: shown.cgroup,
        unit: shown.unit,
        scale: shown.scale,
        is_supported: shown.is_supported,
        reason: reasons::reason(counted),
        counts: Vec::new(),
    }
}

fn measured_run(outcome: &CountOutcome) -> MeasuredRun {
    use std::os::unix::process::ExitStatusExt;
    let status = outcome.ending.workload;
    MeasuredRun {
        elapsed: outcome.elapsed,
        user: outcome.usage.map(|usage| usage.user),
        system: outcome.usage.map(|usage| usage.system),
        exit_code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
    }
}

fn origin(subject: &CountSubject, sysfs: &Sysfs) -> RunOrigin {
    let host = HostFiles::this(sysfs).identity();
    let online = oxperf_sys::cpus::online_in(sysfs);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    RunOrigin {
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: environment::command_line(),
        subject: subject.words(),
        started: now.map_or(0, |now| now.as_secs()),
        host: host.name,
        kernel: host.kernel,
        architecture: host.architecture,
        processor: host.processor,
        cpus: online.ok().map(|cpus| cpus.len() as u64),
    }
}

/// Writes the runs to a file.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(path: &Path, runs: &MeasuredRuns) -> Result<(), Failure> {
    let mut out = Vec::new();
    write_runs(&mut out, runs);
    std::fs::write(path, out)
        .map_err(|error| Failure::new(format!("failed to write {}: {error}", path.display())))
}

/// A measurement with its name.
#[derive(Clone, Copy)]
pub(super) struct NamedRuns<'a> {
    pub(super) name: &'a str,
    pub(super) runs: &'a MeasuredRuns,
}

/// Two measurements beside each other, and whether the later one grew by more than it may.
pub(super) struct Compared {
    /// The text.
    pub(super) text: Vec<u8>,
    /// A sentence about what grew by more than the limit.
    pub(super) grown: Option<String>,
}

/// Compares two measurements.
///
/// # Errors
/// There is a limit, and too few runs to tell.
pub(super) fn compare(
    before: NamedRuns<'_>,
    after: NamedRuns<'_>,
    form: &CountForm,
    limit: Option<GrowthLimit>,
) -> Result<Compared, Failure> {
    check_runs(limit, before.runs.runs.len())?;
    check_runs(limit, after.runs.runs.len())?;
    let separator = environment::digit_separator().unwrap_or_default();
    let found = RunComparison::new(before.runs, after.runs);
    let page = ComparisonPage {
        before: before.runs,
        before_name: before.name,
        after: after.runs,
        after_name: after.name,
        comparison: &found,
        digit_separator: &separator,
    };
    let mut text = Vec::new();
    comparison(&mut text, &page, form);
    Ok(Compared {
        text,
        grown: limit.and_then(|limit| grown(&found, limit)),
    })
}

/// Refuses to judge growth by fewer than two runs.
///
/// # Errors
/// There is a limit, and so many runs are too few.
pub(super) fn check_runs(limit: Option<GrowthLimit>, runs: usize) -> Result<(), Failure> {
    if limit.is_some() && runs < 2 {
        return Err(Failure::invalid(
            "--fail-over needs at least two runs of both measurements (-r) to tell growth from chance",
        ));
    }
    Ok(())
}

fn grown(found: &RunComparison, limit: GrowthLimit) -> Option<String> {
    let names = found.grown_over(limit.0);
    let sentence = || format!("Grown by more than {}%: {}", limit.0, names.join(", "));
    (!names.is_empty()).then(sentence)
}
