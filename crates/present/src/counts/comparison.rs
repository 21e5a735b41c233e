//! Two measurements beside each other: a table of text, CSV, or the JSON document that `docs/stat-json.md` calls
//! `oxperf-stat-diff`.

mod csv;
mod json;
mod text;

use oxperf_analysis::counts::{MeanTest, MeasuredRuns, MeasuredSide, RunComparison};

use super::CountForm;

/// A comparison to be shown.
#[derive(Clone, Copy)]
pub struct ComparisonPage<'a> {
    /// The earlier measurement.
    pub before: &'a MeasuredRuns,
    /// The name of the earlier measurement: its file.
    pub before_name: &'a str,
    /// The later measurement.
    pub after: &'a MeasuredRuns,
    /// The name of the later measurement.
    pub after_name: &'a str,
    /// What the two come to.
    pub comparison: &'a RunComparison,
    /// The text between groups of three digits, in a table for people.
    pub digit_separator: &'a str,
}

/// Appends a comparison.
pub fn comparison(out: &mut Vec<u8>, page: &ComparisonPage<'_>, form: &CountForm) {
    match form {
        CountForm::Text => text::table(out, page),
        CountForm::Csv { separator } => csv::lines(out, page, separator),
        CountForm::Json => json::document(out, page),
    }
}

/// The word for what a test says, in CSV and JSON.
fn verdict(test: MeanTest) -> &'static str {
    match test.is_more_than_chance() {
        None => "too-few-runs",
        Some(true) => "more-than-chance",
        Some(false) => "chance",
    }
}

/// The probability that a difference is chance, where a test gives one.
fn probability(test: MeanTest) -> Option<f64> {
    match test {
        MeanTest::TooFewRuns => None,
        MeanTest::NoSpread { is_equal } => Some(if is_equal { 1.0 } else { 0.0 }),
        MeanTest::Welch { probability, .. } => Some(probability),
    }
}

/// perf's words for a side that counted nothing.
fn missing(side: Option<&MeasuredSide>) -> Option<&'static str> {
    match side {
        None => Some("-"),
        Some(side) if side.statistics.number() > 0 => None,
        Some(side) if side.is_supported => Some("<not counted>"),
        Some(_) => Some("<not supported>"),
    }
}

#[cfg(test)]
mod tests;
