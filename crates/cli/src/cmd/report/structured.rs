//! `report --json` and `--csv`: the tables for other programs.

use std::io::Write;
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_analysis::hist::{SortKey, Table};
use oxperf_present::report::{ReportCsv, ReportDocument};
use oxperf_profile::Profile;

use crate::failure::Failure;

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

/// Whether one of them was asked for.
pub(super) fn is_asked(matches: &ArgMatches) -> bool {
    matches.get_flag("json") || matches.get_flag("csv")
}

/// Writes the tables.
pub(super) fn write(
    matches: &ArgMatches,
    (profile, tables, keys): (&Profile, &[Table], &[SortKey]),
    (path, losses): (&Path, &[String]),
    min_percent: f64,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let file = path.display().to_string();
    match matches.get_flag("json") {
        true => ReportDocument {
            profile,
            keys,
            min_percent,
            file: &file,
            losses,
        }
        .write(tables, output)?,
        false => ReportCsv {
            profile,
            keys,
            min_percent,
            losses,
        }
        .write(tables, output)?,
    }
    Ok(())
}
