//! The tables of events of this machine's CPU, and where they come from.

pub(crate) mod arguments;
pub(crate) mod import;

use std::path::{Path, PathBuf};

use oxperf_pmu_events::{EventTables, TableFolder};

use crate::environment;
use crate::failure::Failure;

/// So many problems of tables are reported one by one.
const MAX_REPORTED: usize = 10;

/// Folders of tables, in the order in which they are asked. The built-in tables come last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TablesOptions {
    /// The folder of `--pmu-events`.
    pub(crate) named: Option<PathBuf>,
    /// The folder of the key `pmu-events.path`.
    pub(crate) configured: Option<PathBuf>,
}

/// The tables of this machine's CPU.
///
/// # Errors
/// A folder that the user names has no tables.
pub(crate) fn of_machine(options: &TablesOptions) -> Result<EventTables, Failure> {
    let model = || Some(environment::cpu_model()?.as_str().to_owned());
    let mut tables = EventTables::of_cpu_found(model);
    for folder in options.named.iter().chain(&options.configured) {
        let folder = TableFolder::open(folder);
        tables =
            tables.with_folder(folder.map_err(|error| Failure::bad_option(error.to_string()))?);
    }
    if let Some(folder) = environment::imported_tables() {
        tables = imported(&folder)
            .into_iter()
            .fold(tables, EventTables::with_folder);
    }
    Ok(tables.with_builtin())
}

/// The folders that `list --import` has made. One that cannot be used is passed over.
fn imported(folder: &Path) -> Vec<TableFolder> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let folders = paths.iter().filter_map(|path| TableFolder::open(path).ok());
    folders.collect()
}

/// What could not be read of the tables that were asked, a line each.
pub(crate) fn problems(tables: &EventTables) -> Vec<String> {
    let mut lines: Vec<String> = tables
        .problems()
        .take(MAX_REPORTED)
        .map(ToString::to_string)
        .collect();
    let more = tables.problems().count().saturating_sub(MAX_REPORTED);
    if more > 0 {
        lines.push(format!("and {more} more problems of tables of events"));
    }
    lines
}
