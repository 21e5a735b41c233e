//! The lines of a run of checks, in perf's form.

use oxperf_selftest::Shortfall;

use super::case::Outcome;
use super::run::Place;
use super::selection::{Case, Selection};
use crate::failure::Failure;
use crate::output::{print_error, print_line};

/// The column behind the names: that of perf's longest.
const COLUMN: usize = 5 + 64;

/// The details that are shown.
#[derive(Clone, Copy)]
pub(super) struct Verbosity {
    /// 1 shows the notes of checks that failed, more those of all.
    pub(super) level: u8,
    /// Last lines of the notes of a failed check, where its notes are not shown whole.
    pub(super) snippet: usize,
}

/// Lines and sums of a run.
pub(super) struct Report {
    verbosity: Verbosity,
    place: Place,
    /// The number of the check whose head stands above the parts that come.
    head: Option<u32>,
    passed: u32,
    passed_parts: u32,
    skipped: u32,
    failed: Vec<Case>,
}

impl Report {
    /// A report of nothing yet.
    pub(super) fn new(verbosity: Verbosity, place: Place) -> Report {
        Report {
            verbosity,
            place,
            head: None,
            passed: 0,
            passed_parts: 0,
            skipped: 0,
            failed: Vec::new(),
        }
    }

    /// Shows and counts an outcome.
    pub(super) fn show(&mut self, case: Case, outcome: &Outcome) {
        if case.part.is_some() && self.head != Some(case.test.number) {
            let head = format!("{:3}: {}", case.test.number, case.test.name);
            print_error(&format!("{head:<COLUMN$}:"));
        }
        self.head = case.part.map(|_| case.test.number);
        let failed = matches!(outcome.verdict, Err(Shortfall::Failure(_)));
        let with_notes = self.verbosity.level > 1 || (self.verbosity.level == 1 && failed);
        if with_notes {
            self.show_notes(outcome);
        }
        let verdict = match &outcome.verdict {
            Ok(()) => "Ok".to_owned(),
            Err(Shortfall::Skip(reason)) => format!("Skip ({reason})"),
            Err(Shortfall::Failure(_)) => "FAILED!".to_owned(),
        };
        print_error(&format!("{:<COLUMN$}: {verdict}", title(case)));
        if let Err(Shortfall::Failure(reason)) = &outcome.verdict {
            self.explain(reason, outcome, with_notes);
        }
        if failed || (self.verbosity.level > 0 && outcome.verdict.is_err()) {
            print_error(&format!("      remedy: {}", case.test.remedy));
        }
        self.count(case, outcome);
    }

    fn show_notes(&self, outcome: &Outcome) {
        print_error("--- start ---");
        if !outcome.notes.is_empty() {
            print_error(outcome.notes.trim_end());
        }
        let code = match (self.place, &outcome.verdict) {
            (Place::Here, _) => "",
            (_, Ok(())) => "(0)",
            (_, Err(Shortfall::Skip(_))) => "(-2)",
            (_, Err(Shortfall::Failure(_))) => "(-1)",
        };
        print_error(&format!("---- end{code} ----"));
    }

    fn explain(&self, reason: &str, outcome: &Outcome, notes_are_shown: bool) {
        if !notes_are_shown {
            let lines: Vec<&str> = outcome.notes.lines().collect();
            let first = lines.len().saturating_sub(self.verbosity.snippet);
            for line in &lines[first..] {
                print_error(&format!("      {line}"));
            }
        }
        print_error(&format!("      {reason}"));
    }

    fn count(&mut self, case: Case, outcome: &Outcome) {
        match &outcome.verdict {
            Ok(()) if case.part.is_some() => self.passed_parts += 1,
            Ok(()) => self.passed += 1,
            Err(Shortfall::Skip(_)) => self.skipped += 1,
            Err(Shortfall::Failure(_)) => self.failed.push(case),
        }
    }

    /// Shows the sums.
    pub(super) fn sum_up(&self) {
        print_error(&format!(
            "\n=== Test Summary ===\nPassed main tests : {}\nPassed subtests   : {}\nSkipped tests     : {}\n\
             Failed tests      : {}",
            self.passed,
            self.passed_parts,
            self.skipped,
            self.failed.len()
        ));
        if !self.failed.is_empty() {
            print_error("List of failed tests:");
        }
        for case in &self.failed {
            print_error(&format!("  {}", title(*case)));
        }
    }
}

/// Number and name, the number at the right.
fn title(case: Case) -> String {
    match case.part {
        Some(part) => format!("{:3}.{}: {}", case.test.number, part + 1, case.name()),
        None => format!("{:3}: {}", case.test.number, case.name()),
    }
}

/// Prints numbers and names.
pub(super) fn list(selection: &Selection) -> Result<(), Failure> {
    let mut head = None;
    for case in selection.cases() {
        if case.part.is_some() && head != Some(case.test.number) {
            print_line(&format!("{:3}: {}", case.test.number, case.test.name))?;
        }
        head = Some(case.test.number);
        print_line(&title(case))?;
    }
    Ok(())
}
