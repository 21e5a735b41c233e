//! The options of `query`, and the typed options that are made of them.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_columns::views::{ViewEngine, views};

use super::shown;
use crate::arguments::kinds::switch;
use crate::arguments::{symbols, text};
use crate::configuration::Configuration;
use crate::environment;
use crate::sql::{ResultFormat, SqlRequest};

const EXAMPLES: &str = "\
Examples:
  oxperf query 'SELECT symbol, sum(period) AS value FROM profile GROUP BY symbol ORDER BY value DESC LIMIT 20'
  oxperf query -i 'prof/**' -i yesterday.data --format csv 'SELECT comm, count(*) FROM samples GROUP BY comm'
  oxperf query --flame f.html \"SELECT stack_id, sum(period) AS value FROM samples WHERE comm = 'rustc' GROUP BY stack_id\"
  oxperf query --examples                statements to begin with
  oxperf query --views duckdb -i prof    the same tables for DuckDB";

/// The recording that is read where none is named.
const RECORDING: &str = "perf.data";

/// Options about inlined functions and source files, which the tables of recordings do not have here.
const NOT_OF_TABLES: [&str; 3] = ["inline", "no-inline", "full-source-path"];

/// The options.
pub(super) fn command() -> Command {
    Command::new("query")
        .about("Answer SQL over recordings and their Parquet tables")
        .after_help(EXAMPLES)
        .override_usage("oxperf query [OPTIONS] [SQL]")
        .args([
            Arg::new("sql")
                .value_name("sql")
                .help("The statements [default: those of standard input; on a terminal a prompt]"),
            Arg::new("inputs")
                .short('i')
                .long("input")
                .value_name("file")
                .action(ArgAction::Append)
                .help("A recording, a Parquet file, a folder of them, or a pattern such as 'prof/**'; may be given several times [default: perf.data]"),
            switch("force")
                .short('f')
                .help("Read recordings that belong to somebody else"),
        ])
        .next_help_heading("The result")
        .args([
            Arg::new("format")
                .long("format")
                .value_name("format")
                .value_parser(PossibleValuesParser::new(ResultFormat::ALL.map(|(name, _)| name)))
                .default_value("table")
                .help("The form of the result"),
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("file")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write it [default: standard output]"),
            Arg::new("flame")
                .long("flame")
                .value_name("file")
                .value_parser(value_parser!(PathBuf))
                .help("Write a flame graph of a result with a stack_id or a list of names, stack, and one number; with two numbers, of the change between them"),
        ])
        .next_help_heading("Instead of a result")
        .args([
            switch("tables").help("Show the tables and their columns"),
            switch("examples").help("Show statements to begin with"),
            Arg::new("views")
                .long("views")
                .value_name("engine")
                .value_parser(PossibleValuesParser::new(
                    ViewEngine::ALL.map(|(name, _)| name),
                ))
                .help("Print statements that make the same tables in another engine, of the folder of -i [default: .]"),
        ])
        .next_help_heading("Names")
        .args(symbols::arguments().into_iter().filter(is_of_tables))
}

fn is_of_tables(option: &Arg) -> bool {
    !NOT_OF_TABLES.contains(&option.get_id().as_str())
}

/// The text that is asked for instead of a result.
pub(super) fn shown(matches: &ArgMatches) -> Option<String> {
    if let Some(engine) = text(matches, "views").and_then(ViewEngine::parse) {
        let folder = inputs(matches).next();
        return Some(views(engine, folder.map_or(".", String::as_str)));
    }
    if matches.get_flag("tables") {
        return Some(shown::tables());
    }
    matches.get_flag("examples").then(shown::examples)
}

fn inputs(matches: &ArgMatches) -> impl Iterator<Item = &String> {
    matches
        .get_many::<String>("inputs")
        .into_iter()
        .flatten()
        .filter(|input| !input.is_empty())
}

/// What the engine is asked.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> SqlRequest {
    let mut inputs: Vec<String> = inputs(matches).cloned().collect();
    if inputs.is_empty() {
        inputs.push(RECORDING.to_owned());
    }
    let path = |name| matches.get_one::<PathBuf>(name).cloned();
    let output = path("output").filter(|path| path.as_os_str() != "-");
    SqlRequest {
        sql: text(matches, "sql").map(str::to_owned),
        inputs,
        force: matches.get_flag("force"),
        symbols: symbols::options(matches, configuration),
        format: text(matches, "format")
            .and_then(ResultFormat::parse)
            .unwrap_or(ResultFormat::Table),
        width: (output.is_none() && environment::output_is_terminal()).then(environment::columns),
        output,
        flame: path("flame"),
    }
}
