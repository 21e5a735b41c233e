//! The options of `data convert`, and the typed options that are made of them.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_query::SymbolOptions;

use super::{TARGETS, Target};
use crate::arguments::{self, flag, text};
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::input::InputOptions;

/// Options that not every form takes.
const OPTIONS: [&str; 3] = ["all", "tod", "time"];

/// Everything that `data convert` is asked for.
pub(super) struct ConvertOptions {
    pub(super) input: InputOptions,
    pub(super) symbols: SymbolOptions,
    /// The form of the result.
    pub(super) target: Target,
    /// The file or folder that is written.
    pub(super) output: PathBuf,
    /// Records that are no samples are converted, too.
    pub(super) with_others: bool,
    /// Times are those of the wall clock.
    pub(super) time_of_day: bool,
    /// The times whose samples are converted.
    pub(super) times: Option<String>,
}

/// The options that were given.
///
/// # Errors
/// None or several forms are asked for, or an option that the form does not take.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<ConvertOptions, Failure> {
    let (target, output) = target(matches)?;
    check_options(&target, matches)?;
    Ok(ConvertOptions {
        input: arguments::input::options(matches),
        symbols: arguments::symbols::options(matches, configuration),
        target,
        output,
        with_others: flag(matches, "all"),
        time_of_day: flag(matches, "tod"),
        times: text(matches, "time").map(str::to_owned),
    })
}

/// The options.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let target = |target: Target| {
        Arg::new(target.option)
            .long(target.option)
            .value_name(target.value)
            .help(target.help)
    };
    Command::new("convert")
        .about("Convert a recording to another form")
        .args(arguments::input::arguments())
        .arg(flag("all", "Convert all events, not only samples"))
        .arg(flag("tod", "Convert times to those of the wall clock"))
        .arg(
            Arg::new("time")
                .long("time")
                .value_name("str")
                .help("Convert samples of these seconds only; also 10%/2, 0%-10%, several"),
        )
        .arg(flag("verbose", "Accepted for perf's sake").short('v'))
        .args(TARGETS.map(target))
        .next_help_heading("Names")
        .args(arguments::symbols::arguments())
}

/// The one form that is asked for, and its file or folder.
fn target(matches: &ArgMatches) -> Result<(Target, PathBuf), Failure> {
    let named = |target: Target| {
        let path = text(matches, target.option)?;
        Some((target, PathBuf::from(path)))
    };
    let mut wanted: Vec<(Target, PathBuf)> = TARGETS.into_iter().filter_map(named).collect();
    match (wanted.pop(), wanted.pop()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Failure::new(format!(
            "You must specify one of {}.",
            list(" or ")
        ))),
        (Some(_), Some(_)) => Err(Failure::new(format!(
            "You cannot specify more than one of {}.",
            list(" and ")
        ))),
    }
}

/// The options of all forms.
fn list(last: &str) -> String {
    let options = TARGETS.map(|target| format!("--{}", target.option));
    match options.split_last() {
        Some((one, [])) => one.clone(),
        Some((end, others)) => format!("{}{last}{end}", others.join(", ")),
        None => String::new(),
    }
}

fn check_options(target: &Target, matches: &ArgMatches) -> Result<(), Failure> {
    let given = |option: &str| matches.value_source(option) == Some(ValueSource::CommandLine);
    let senseless = OPTIONS
        .iter()
        .find(|option| given(option) && !target.takes.contains(option));
    match senseless {
        Some(option) => Err(Failure::new(format!(
            "--{option} is currently unsupported for {} output.",
            target.name.to_uppercase()
        ))),
        None => Ok(()),
    }
}
