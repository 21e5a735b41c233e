//! The lines below a table of counts: the time that it took.

use std::time::Duration;

use oxperf_analysis::counts::Statistics;

use crate::text::put;

/// The time that one run took, or several.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ElapsedTime {
    /// The time of each run.
    pub runs: Vec<Duration>,
    /// Processor time of the program in user mode and in the kernel, of a single run.
    pub usage: Option<(Duration, Duration)>,
    /// Each run is listed.
    pub lists_runs: bool,
    /// There may be rows above.
    pub follows_rows: bool,
}

impl ElapsedTime {
    fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        self.runs
            .iter()
            .for_each(|run| statistics.add(run.as_secs_f64()));
        statistics
    }
}

/// The width of a time in seconds.
const TIME_WIDTH: usize = 17;
/// Digits of a second.
const DIGITS: usize = 9;

/// Appends the lines below a table.
pub fn footer(out: &mut Vec<u8>, time: &ElapsedTime) {
    if time.follows_rows {
        put!(out, "\n");
    }
    let statistics = time.statistics();
    if time.runs.len() > 1 {
        repeated(out, time, &statistics);
    } else {
        seconds(out, statistics.mean(), "seconds time elapsed");
        if let Some((user, system)) = time.usage {
            put!(out, "\n");
            seconds(out, user.as_secs_f64(), "seconds user");
            seconds(out, system.as_secs_f64(), "seconds sys");
            put!(out, "\n");
        }
    }
    put!(out, "\n");
}

fn seconds(out: &mut Vec<u8>, seconds: f64, what: &str) {
    put!(out, " {seconds:TIME_WIDTH$.DIGITS$} {what}\n");
}

fn repeated(out: &mut Vec<u8>, time: &ElapsedTime, statistics: &Statistics) {
    let (mean, error) = (statistics.mean(), statistics.standard_error());
    if time.lists_runs {
        put!(out, "       # Table of individual measurements:\n");
        for run in &time.runs {
            let run = run.as_secs_f64();
            let difference = run - mean;
            put!(out, " {run:TIME_WIDTH$.DIGITS$} ({difference:+.DIGITS$}) ");
            put!(out, "{}\n", "#".repeat(bar(run, mean)));
        }
        put!(out, "\n       # Final result:\n");
    }
    put!(
        out,
        " {mean:TIME_WIDTH$.DIGITS$} +- {error:.DIGITS$} seconds time elapsed"
    );
    let relative = statistics.relative_error();
    if relative != 0.0 {
        put!(out, "  ( +-{relative:6.2}% )");
    }
    put!(out, "\n");
}

/// The length of a run's bar: one for each 5% that it is away from the mean.
fn bar(run: f64, mean: f64) -> usize {
    const LONGEST: usize = 100;
    let away = (100.0 * (run - mean) / run).abs() as usize;
    (1 + away / 5).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_a_twentieth() {
        assert_eq!((bar(1.0, 1.0), bar(1.0, 1.3), bar(0.5, 1.0)), (1, 7, 21));
    }
}
