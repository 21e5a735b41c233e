//! Figures side by side, on the terminal and as lines of JSON.

use std::fmt::Write as _;
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
    /// Factor by which the reference needs more.
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

/// Reads the measures that were kept, each a line of JSON.
pub(super) fn kept(folder: &Path) -> Result<Vec<Value>> {
    let path = folder.join("results.jsonl");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().map(serde_json::from_str);
    Ok(lines.collect::<Result<_, _>>()?)
}

/// Makes the table of docs/performance.md of measures.
pub(super) fn table(measures: &[Value]) -> String {
    let mut table =
        String::from("| measure | | oxperf | perf 7.2 | ratio |\n|---|---|---|---|---|\n");
    for measure in measures {
        let name = measure["measure"].as_str().unwrap_or_default();
        let figures = measure["figures"].as_array().map_or(&[][..], Vec::as_slice);
        for figure in figures {
            let _ = writeln!(table, "{}", table_row(name, figure));
        }
    }
    table
}

fn table_row(measure: &str, figure: &Value) -> String {
    let unit = figure["unit"].as_str().unwrap_or_default();
    let value = |key: &str| {
        let value = figure[key].as_f64();
        value.map_or("-".to_owned(), |value| format!("{value:.3} {unit}"))
    };
    // A measure beside something else than perf 7.2 says beside what.
    let others = figure.as_object().into_iter().flat_map(|keys| keys.keys());
    let mut others =
        others.filter(|key| !["what", "unit", "oxperf", "ratio"].contains(&key.as_str()));
    let reference = match others.next().map(String::as_str) {
        Some("perf7") | None => value("perf7"),
        Some(other) => format!("{} ({other})", value(other)),
    };
    let ratio = figure["ratio"].as_f64();
    let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
    format!(
        "| `{measure}` | {} | {} | {} | {ratio} |",
        figure["what"].as_str().unwrap_or_default(),
        value("oxperf"),
        reference,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_a_row_a_figure() {
        let figure = Figure {
            what: "wall time",
            unit: "s",
            ours: 0.5,
            reference: Some(5.0),
        };
        let measure = json!({"measure": "report", "figures": [to_json(&figure, "perf7")]});
        let rows = table(&[measure]);
        assert_eq!(
            rows.lines().last(),
            Some("| `report` | wall time | 0.500 s | 5.000 s | 10.0 |")
        );
    }
}
