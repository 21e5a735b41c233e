//! The options of `stat diff`: each defined once, with its help, and read into typed options.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_present::counts::CountForm;

use super::StatDiffOptions;
use crate::arguments::{flag, text};
use crate::cmd::stat::runs::GrowthLimit;
use crate::failure::Failure;

/// The options.
pub(super) fn command() -> Command {
    Command::new("diff")
        .about("Compare two measurements that stat --json-runs kept: means, differences, and whether they are more than chance")
        .override_usage("oxperf stat diff [OPTIONS] A B")
        .args([
            Arg::new("before")
                .value_name("A")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The earlier measurement"),
            Arg::new("after")
                .value_name("B")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("The later measurement"),
            Arg::new("field-separator")
                .long("field-separator")
                .short('x')
                .value_name("separator")
                .allow_hyphen_values(true)
                .help("Fields with this between them, \\t for a tab, in place of a table"),
            Arg::new("json-output")
                .long("json-output")
                .short('j')
                .action(ArgAction::SetTrue)
                .help("One JSON document: docs/stat-json.md tells what it holds"),
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("file")
                .value_parser(value_parser!(PathBuf))
                .help("File to write to, in place of standard output"),
            fail_over(),
        ])
}

/// `--fail-over`, of every command that compares.
pub(in crate::cmd::stat) fn fail_over() -> Arg {
    Arg::new("fail-over")
        .long("fail-over")
        .value_name("percent")
        .help("End with exit code 3 if a count or time grew by more than this, and by more than chance")
}

/// The value of `--fail-over`.
///
/// # Errors
/// The sentence about a value that is no percentage.
pub(in crate::cmd::stat) fn limit(matches: &ArgMatches) -> Result<Option<GrowthLimit>, String> {
    let limit = |text: &str| {
        let number = text.trim().trim_end_matches('%').parse::<f64>().ok();
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        let wrong = || format!("--fail-over takes a percentage, such as 5; {text} is none");
        number.map(GrowthLimit).ok_or_else(wrong)
    };
    text(matches, "fail-over").map(limit).transpose()
}

/// The options as values.
///
/// # Errors
/// A value makes no sense.
pub(super) fn options(matches: &ArgMatches) -> Result<StatDiffOptions, Failure> {
    let file = |name| matches.get_one::<PathBuf>(name).cloned();
    Ok(StatDiffOptions {
        before: file("before").unwrap_or_default(),
        after: file("after").unwrap_or_default(),
        form: form(matches),
        output: file("output"),
        limit: limit(matches).map_err(Failure::bad_option)?,
    })
}

fn form(matches: &ArgMatches) -> CountForm {
    if flag(matches, "json-output") {
        return CountForm::Json;
    }
    match text(matches, "field-separator") {
        Some("\\t") => separated("\t"),
        Some(separator) => separated(separator),
        None => CountForm::Text,
    }
}

fn separated(separator: &str) -> CountForm {
    CountForm::Csv {
        separator: separator.to_owned(),
    }
}
