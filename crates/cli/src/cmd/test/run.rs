//! A run of checks: one after another, or several at once with their lines in order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use oxperf_selftest::Shortfall;

use super::case::{self, Objects, Outcome, Scratch};
use super::junit;
use super::report::{Report, Verbosity};
use super::selection::{Case, Selection};
use crate::failure::Failure;

/// The places where checks run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Each in a process of its own, several at once.
    Parallel,
    /// Each in a process of its own, one after another.
    Sequential,
    /// In this process, one after another.
    Here,
}

/// Checks that are to run.
pub(super) struct TestRun {
    pub(super) selection: Selection,
    /// Numbers that are left out.
    pub(super) skipped: Vec<u32>,
    pub(super) place: Place,
    /// The number of runs of each check.
    pub(super) runs: u32,
    pub(super) verbosity: Verbosity,
    /// The file of the outcomes as XML.
    pub(super) junit: Option<PathBuf>,
    pub(super) objects: Objects,
}

/// A check with its outcome.
pub(super) struct Finished {
    pub(super) case: Case,
    pub(super) outcome: Outcome,
}

impl TestRun {
    /// Runs the checks, reports each, and sums up.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let cases = self.selection.cases();
        let rounds = |case: &Case| (0..self.runs).map(|run| (*case, run)).collect::<Vec<_>>();
        let jobs: Vec<(Case, u32)> = cases.iter().flat_map(rounds).collect();
        let mut report = Report::new(self.verbosity, self.place);
        let finished = self.run_all(&jobs, &mut report)?;
        report.sum_up();
        match &self.junit {
            Some(path) => junit::write(path, &finished),
            None => Ok(()),
        }
    }

    fn run_all(&self, jobs: &[(Case, u32)], report: &mut Report) -> Result<Vec<Finished>, Failure> {
        let workers = match self.place {
            Place::Parallel => std::thread::available_parallelism().map_or(1, usize::from),
            Place::Sequential | Place::Here => 1,
        };
        let next = AtomicUsize::new(0);
        let (sender, outcomes) = mpsc::channel();
        std::thread::scope(|scope| {
            if self.place != Place::Here {
                for _ in 0..workers {
                    let (next, sender) = (&next, sender.clone());
                    scope.spawn(move || {
                        while let Some((nth, job)) = take(next, jobs) {
                            if sender.send((nth, self.outcome(*job))).is_err() {
                                return;
                            }
                        }
                    });
                }
            }
            drop(sender);
            if self.place == Place::Here {
                let finished = jobs.iter().map(|job| (job.0, self.outcome(*job)));
                return in_order(finished, report);
            }
            let mut waiting = BTreeMap::new();
            let mut expected = 0;
            let ordered = std::iter::from_fn(move || {
                while !waiting.contains_key(&expected) {
                    let (nth, outcome) = outcomes.recv().ok()?;
                    waiting.insert(nth, outcome);
                }
                let outcome = waiting.remove(&expected)?;
                expected += 1;
                Some((jobs[expected - 1].0, outcome))
            });
            in_order(ordered, report)
        })
    }

    fn outcome(&self, (case, run): (Case, u32)) -> Result<Outcome, Failure> {
        if self.skipped.contains(&case.test.number) {
            return Ok(Outcome {
                verdict: Err(Shortfall::Skip("user override".to_owned())),
                notes: String::new(),
                took: std::time::Duration::ZERO,
            });
        }
        let scratch = Scratch::new(case, run)?;
        match self.place {
            Place::Here => case::here(case, &self.objects, scratch.path().to_owned()),
            Place::Parallel | Place::Sequential => case::apart(case, &self.objects, scratch.path()),
        }
    }
}

fn take<'j>(next: &AtomicUsize, jobs: &'j [(Case, u32)]) -> Option<(usize, &'j (Case, u32))> {
    let nth = next.fetch_add(1, Ordering::Relaxed);
    Some((nth, jobs.get(nth)?))
}

fn in_order(
    outcomes: impl Iterator<Item = (Case, Result<Outcome, Failure>)>,
    report: &mut Report,
) -> Result<Vec<Finished>, Failure> {
    let mut finished = Vec::new();
    for (case, outcome) in outcomes {
        let outcome = outcome?;
        report.show(case, &outcome);
        finished.push(Finished { case, outcome });
    }
    Ok(finished)
}
