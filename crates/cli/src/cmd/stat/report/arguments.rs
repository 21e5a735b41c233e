//! The options of `stat report`.

use clap::{ArgMatches, Command};
use oxperf_analysis::counts::CountGrouping;

use super::super::arguments as stat;
use super::super::problem::StatProblem;
use super::ReportOptions;
use crate::arguments::{Invocation, input};
use crate::environment;
use crate::failure::Failure;

/// The options of `stat` about its output that a report has, too.
const OUTPUT: [&str; 8] = [
    "big-num",
    "no-big-num",
    "field-separator",
    "json-output",
    "output",
    "append",
    "log-fd",
    "verbose",
];

/// The options.
pub(super) fn command() -> Command {
    let output = stat::output_arguments();
    let shown = output
        .into_iter()
        .filter(|option| OUTPUT.contains(&option.get_id().as_str()));
    Command::new("report")
        .about("Show the counts that stat record wrote")
        .args(input::arguments())
        .next_help_heading("What to add up")
        .args(stat::grouping_arguments())
        .next_help_heading("The output")
        .args(shown)
}

/// Runs `stat report`.
pub(super) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    match options(matches) {
        Ok(options) => super::perform(&options),
        Err(problem) => {
            let path = ["stat", "report"];
            Ok(stat::report_below(
                &command(),
                &path,
                &problem,
                &invocation.program,
            ))
        }
    }
}

fn options(matches: &ArgMatches) -> Result<ReportOptions, StatProblem> {
    let grouping = stat::grouping(matches)?;
    Ok(ReportOptions {
        input: input::options(matches),
        grouping: Some(grouping).filter(|grouping| *grouping != CountGrouping::All),
        form: stat::form(matches)?,
        output: stat::output(matches)?,
        groups_digits: !matches.get_flag("no-big-num"),
        verbosity: matches.get_count("verbose"),
        sysfs: environment::sysfs(),
    })
}
