//! `report --json` and `--csv`: the tables for other programs.

use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, ArgAction};
use oxperf_analysis::hist::{SortKey, Table};
use oxperf_present::report::{ReportCsv, ReportDocument};
use oxperf_profile::Profile;

/// The options.
pub(super) fn arguments() -> [Arg; 2] {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    [
        flag("json")
            .conflicts_with("csv")
            .help("Write the tables and call trees as JSON, see docs/json.md"),
        flag("csv").help("Write the rows as CSV, a line for each row and event"),
    ]
}

/// Tables for other programs.
pub(super) struct StructuredReport<'a> {
    /// The profile that they are of.
    pub(super) profile: &'a Profile,
    /// The keys of their rows.
    pub(super) keys: &'a [SortKey],
    /// Rows below this percentage are left out.
    pub(super) min_percent: f64,
    /// The recording.
    pub(super) file: &'a Path,
    /// A sentence for each kind of loss.
    pub(super) losses: &'a [String],
}

impl StructuredReport<'_> {
    /// Writes the tables as JSON.
    pub(super) fn write_json(&self, tables: &[Table], output: &mut dyn Write) -> io::Result<()> {
        let document = ReportDocument {
            profile: self.profile,
            keys: self.keys,
            min_percent: self.min_percent,
            file: &self.file.display().to_string(),
            losses: self.losses,
        };
        document.write(tables, output)
    }

    /// Writes the rows as CSV.
    pub(super) fn write_csv(&self, tables: &[Table], output: &mut dyn Write) -> io::Result<()> {
        let csv = ReportCsv {
            profile: self.profile,
            keys: self.keys,
            min_percent: self.min_percent,
            losses: self.losses,
        };
        csv.write(tables, output)
    }
}
