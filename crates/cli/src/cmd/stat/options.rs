//! The options of `stat` as values, and what they rule out together.

use std::path::PathBuf;
use std::time::Duration;

use oxperf_analysis::counts::CountGrouping;
use oxperf_capture::count::{CountOptions, CountRecordOptions};
use oxperf_present::counts::{CountForm, CountSubject};

use super::metrics::MetricWishes;
use super::problem::StatProblem;
use super::root_ports::PortChoice;
use super::runs::RunsOptions;
use crate::arguments::behind::BehindEvents;
use crate::cmd::control::ControlSource;
use crate::event_tables::TablesOptions;

/// All options of the command.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct StatCommand {
    /// Whom to count, and for how long.
    pub(super) options: CountOptions,
    /// The folder where the events that are opened are described, if they are.
    pub(super) open_log: Option<PathBuf>,
    /// The texts of the events.
    pub(super) events: Vec<String>,
    /// The root ports whose traffic is counted in place of events.
    pub(super) root_ports: Option<PortChoice>,
    /// Conditions for tracepoints.
    pub(super) filters: Vec<BehindEvents>,
    /// Where commands come from while events are counted.
    pub(super) control: Option<ControlSource>,
    /// The control groups.
    pub(super) cgroups: CgroupChoice,
    /// The metrics.
    pub(super) metrics: MetricWishes,
    /// Folders of tables of events.
    pub(super) tables: TablesOptions,
    /// Nothing is counted but the time.
    pub(super) counts_nothing: bool,
    /// The runs.
    pub(super) repeats: Repeats,
    /// The time of every run is listed.
    pub(super) lists_runs: bool,
    /// What counts are added up by.
    pub(super) grouping: CountGrouping,
    /// The sum of a core stands on each of its CPUs, of events whose counts are added up by core.
    pub(super) shows_core_sums_on_cpus: bool,
    /// Every thread of the system is shown that counted something.
    pub(super) lists_all_threads: bool,
    /// PMUs that count the same thing are added up.
    pub(super) merges_pmus: bool,
    /// Counts are scaled up for the time in which they did not run.
    pub(super) scales: bool,
    /// The form of the output.
    pub(super) form: CountForm,
    /// Digits of large numbers are grouped.
    pub(super) groups_digits: bool,
    /// The destination of the output.
    pub(super) output: CountOutput,
    /// The name of the target.
    pub(super) subject: CountSubject,
    /// The processor time of the program is told below the table.
    pub(super) tells_usage: bool,
    /// The sums are shown below the intervals.
    pub(super) shows_summary: bool,
    /// Fields of these sums begin with a word that says so.
    pub(super) names_summary: bool,
    /// The screen is cleared before every interval.
    pub(super) clears_screen: bool,
    /// Intervals are drawn as lines.
    pub(super) draws_graph: bool,
    /// Nothing is shown.
    pub(super) is_quiet: bool,
    /// How much is said.
    pub(super) verbosity: u8,
    /// The kernel writes out what it keeps before each run.
    pub(super) syncs: bool,
    /// A command for the shell before each run.
    pub(super) before: Option<String>,
    /// A command for the shell after each run.
    pub(super) after: Option<String>,
    /// Standard error goes to a terminal.
    pub(super) to_terminal: bool,
    /// The list of CPUs as the user wrote it.
    pub(super) cpu_list: Option<String>,
    /// What becomes of whole runs.
    pub(super) runs: RunsOptions,
    /// Choices made for the user.
    pub(super) warnings: Vec<String>,
    /// The recording that counts go to.
    pub(super) recording: Option<CountRecordOptions>,
}

/// The control groups in which events are counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CgroupChoice {
    /// None is named.
    None,
    /// Each of them counts all events.
    ForEach(String),
    /// They belong to events, one by one.
    OfEvents(Vec<BehindEvents>),
}

/// The number of runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Repeats {
    /// So many.
    Times(u32),
    /// Until the user ends it.
    ForEver,
}

/// The place where counts go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CountOutput {
    /// Standard error.
    StandardError,
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// What it holds stays.
        appends: bool,
    },
    /// A descriptor that this program was given.
    Descriptor {
        /// Its number.
        number: i32,
        /// The user said that it is appended to.
        appends: bool,
    },
}

/// The times of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Rounds {
    pub(super) interval: Option<Duration>,
    pub(super) count: Option<u32>,
    pub(super) timeout: Option<Duration>,
    /// What is said about short ones.
    pub(super) warnings: Vec<String>,
}

/// The shortest timeout.
const SHORTEST: Duration = Duration::from_millis(10);
/// What is shorter has costs that are worth a word.
const SHORT: Duration = Duration::from_millis(100);

impl Rounds {
    pub(super) fn new(
        interval: Option<Duration>,
        count: Option<u32>,
        timeout: Option<Duration>,
    ) -> Result<Rounds, StatProblem> {
        let mut warnings = Vec::new();
        if interval.is_none() && count.is_some() {
            return Err(StatProblem::contradiction(
                "interval-count option should be used together with interval-print.",
                &["--interval-count", "--interval-print"],
            ));
        }
        if let Some(timeout) = timeout {
            warnings.extend(check_short(timeout)?);
            if interval.is_some() {
                return Err(StatProblem::contradiction(
                    "timeout option is not supported with interval-print.",
                    &["--timeout", "--interval-print"],
                ));
            }
        }
        Ok(Rounds {
            interval,
            count,
            timeout,
            warnings,
        })
    }
}

/// Refuses a timeout that is too short, and gives the words about one that is short.
fn check_short(timeout: Duration) -> Result<Option<String>, StatProblem> {
    if timeout < SHORTEST {
        return Err(StatProblem::contradiction(
            "timeout must be >= 10ms.",
            &["--timeout"],
        ));
    }
    let words = "timeout < 100ms. The overhead percentage could be high in some cases. Please proceed with caution.";
    Ok((timeout < SHORT).then(|| words.to_owned()))
}

impl StatCommand {
    /// Refuses to draw what cannot be drawn.
    fn check_graph(&self, on_terminal: bool) -> Result<(), StatProblem> {
        let problem = if self.options.interval.is_none() {
            "--graph draws intervals: say how long they are with -I"
        } else if self.form != CountForm::Text {
            "--graph draws a picture in place of the table: it is no form for -x or -j"
        } else if !on_terminal {
            "--graph draws on a terminal: standard error is none, or -o or --log-fd leads away from it"
        } else {
            return Ok(());
        };
        Err(StatProblem::contradiction(
            problem,
            &["--graph", "--interval-print"],
        ))
    }

    /// Metrics alone are those of one run, and not of threads.
    fn check_metrics_alone(&self) -> Result<(), StatProblem> {
        if self.grouping == CountGrouping::Thread {
            return Err(StatProblem::plain(
                "--metric-only is not supported with --per-thread",
            ));
        }
        if self.repeats != Repeats::Times(1) {
            return Err(StatProblem::plain("--metric-only is not supported with -r"));
        }
        Ok(())
    }

    /// Returns whether metrics are counted: those that the user names, or the default ones.
    pub(super) fn needs_metrics(&self) -> bool {
        let wishes = &self.metrics;
        let are_named = wishes.list.is_some() || wishes.preset.is_some();
        let has_default = self.events.is_empty() && self.root_ports.is_none();
        are_named || has_default && !self.counts_nothing
    }

    /// Returns whether values of metrics have colours.
    pub(super) fn is_coloured(&self) -> bool {
        self.to_terminal
            && self.output == CountOutput::StandardError
            && self.form == CountForm::Text
    }

    /// Refuses options that make no sense together.
    pub(super) fn check(&self) -> Result<(), StatProblem> {
        let wide = self.options.target.target.is_cpu_wide();
        if self.lists_runs && matches!(self.repeats, Repeats::Times(1)) {
            return Err(StatProblem::contradiction(
                "--table is only supported with -r",
                &["--repeat", "--table"],
            ));
        }
        let on_terminal = self.to_terminal && self.output == CountOutput::StandardError;
        if self.clears_screen && !on_terminal {
            return Err(StatProblem::no_screen());
        }
        if self.draws_graph {
            self.check_graph(on_terminal)?;
        }
        if self.metrics.alone {
            self.check_metrics_alone()?;
        }
        if self.cgroups != CgroupChoice::None && !wide {
            return Err(StatProblem::needs_cpus());
        }
        match self.grouping {
            CountGrouping::All => Ok(()),
            CountGrouping::Thread
                if !self.options.target.target.is_named() && !self.lists_all_threads =>
            {
                Err(StatProblem::contradiction(
                    "The --per-thread option is only available when monitoring via -p -t -a options or only --per-thread.",
                    &["--pid", "--tid"],
                ))
            }
            CountGrouping::Thread => Ok(()),
            _ if !wide => Err(StatProblem::needs_cpus()),
            _ => Ok(()),
        }
    }
}
