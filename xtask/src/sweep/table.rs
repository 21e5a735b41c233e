//! The table that the sweep prints.

use std::collections::BTreeMap;

use super::compare::Difference;

/// Outcome of one text.
pub(super) enum Outcome {
    Identical,
    Differs(Difference),
    /// Differs, and the list of accepted differences says why.
    Accepted(String),
    /// On the list of accepted differences, but identical.
    Stale,
    /// Belongs to a later issue; compared all the same when asked.
    Later {
        reason: &'static str,
        would_be: Option<Box<Outcome>>,
    },
    /// perf 7.2 made no such text.
    NoText,
    /// Crash, time-out, or the comparison itself failed.
    Failed(String),
}

/// One line of the table.
pub(super) struct Row {
    pub(super) case: String,
    pub(super) golden: String,
    pub(super) outcome: Outcome,
}

/// All lines under a title.
pub(super) struct Table {
    title: &'static str,
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn new(title: &'static str, rows: Vec<Row>) -> Table {
        Table { title, rows }
    }

    /// Prints lines and totals; `false` when something that must be identical is not.
    pub(super) fn print(&self) -> bool {
        self.rows.iter().for_each(print_row);
        self.print_totals();
        !self
            .rows
            .iter()
            .any(|row| matches!(row.outcome, Outcome::Differs(_) | Outcome::Failed(_)))
    }

    fn print_totals(&self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.rows
            .iter()
            .for_each(|row| *counts.entry(total_name(&row.outcome)).or_default() += 1);
        println!("\n{}, {} texts:", self.title, self.rows.len());
        counts
            .iter()
            .for_each(|(name, count)| println!("{count:>6}  {name}"));
        let count = |name: &str| counts.get(name).copied().unwrap_or(0);
        let (same, differ) = (
            count("identical"),
            count("DIFFER") + count("differ, accepted") + count("FAILED"),
        );
        if same + differ > 0 {
            println!(
                "{:>6.1}% of what was compared is identical",
                same as f64 * 100.0 / (same + differ) as f64
            );
        }
    }
}

fn print_row(row: &Row) {
    println!("{:<36} {:<24} {}", row.case, row.golden, word(&row.outcome));
    if let Outcome::Differs(difference) = &row.outcome {
        print_difference(difference);
    }
    if let Outcome::Later {
        would_be: Some(inner),
        ..
    } = &row.outcome
        && let Outcome::Differs(difference) = inner.as_ref()
    {
        print_difference(difference);
    }
}

fn print_difference(difference: &Difference) {
    println!(
        "    expected {:>7}: {}",
        difference.line, difference.expected
    );
    println!("    got             : {}", difference.got);
}

fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Identical => "identical".to_owned(),
        Outcome::Differs(difference) => {
            format!(
                "DIFFERS at line {}, {} lines",
                difference.line, difference.lines
            )
        }
        Outcome::Accepted(reason) => format!("accepted: {reason}"),
        Outcome::Stale => {
            "identical, though on the list of accepted differences: take it off".to_owned()
        }
        Outcome::Later {
            reason,
            would_be: None,
        } => format!("later: {reason}"),
        Outcome::Later {
            reason,
            would_be: Some(inner),
        } => format!("later: {reason}; now: {}", word(inner)),
        Outcome::NoText => "skipped: no text of perf 7.2".to_owned(),
        Outcome::Failed(why) => format!("FAILED: {why}"),
    }
}

fn total_name(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Identical | Outcome::Stale => "identical".to_owned(),
        Outcome::Differs(_) => "DIFFER".to_owned(),
        Outcome::Accepted(_) => "differ, accepted".to_owned(),
        Outcome::Later { reason, .. } => format!("later: {reason}"),
        Outcome::NoText => "skipped: no text of perf 7.2".to_owned(),
        Outcome::Failed(_) => "FAILED".to_owned(),
    }
}
