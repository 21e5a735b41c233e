//! Figures side by side, on the terminal and as lines of JSON.

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use anyhow::Result;
use serde_json::{Value, json};

/// One figure of both tools; less is better.
pub(super) struct Figure {
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    pub(super) ours: f64,
    pub(super) reference: Option<f64>,
}

impl Figure {
    /// How many times more the reference needs.
    fn ratio(&self) -> Option<f64> {
        self.reference
            .map(|reference| reference / self.ours)
            .filter(|ratio| ratio.is_finite())
    }
}

/// Prints the figures of one measure beside those of `other` and appends them to `results.jsonl` in `folder`.
pub(super) fn keep(folder: &Path, measure: &str, other: &str, figures: &[Figure]) -> Result<()> {
    for figure in figures {
        print(measure, other, figure);
    }
    let seconds = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let figures: Vec<Value> = figures
        .iter()
        .map(|figure| to_json(figure, other))
        .collect();
    let line = json!({"unix_time": seconds, "measure": measure, "figures": figures});
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join("results.jsonl"))?;
    writeln!(file, "{line}")?;
    Ok(())
}

fn print(measure: &str, other: &str, figure: &Figure) {
    let reference = figure
        .reference
        .map_or("-".to_owned(), |value| format!("{value:.3}"));
    let ratio = figure
        .ratio()
        .map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"));
    println!(
        "{measure:<18} {:<14} oxperf {:>10.3} {unit:<4} {other} {reference:>10} {unit:<4} {other}/oxperf {ratio:>8}",
        figure.what,
        figure.ours,
        unit = figure.unit
    );
}

fn to_json(figure: &Figure, other: &str) -> Value {
    json!({"what": figure.what, "unit": figure.unit, "oxperf": figure.ours, other: figure.reference, "ratio": figure.ratio()})
}
