//! `data check`: what a recording is, and what of it is damaged.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_present::recording::data_check;
use oxperf_session::RecordingCheck;

use crate::failure::{Failure, code};
use crate::input::{self, Input};

/// Everything could be read.
const WHOLE: i32 = 0;
/// Some of it could not.
const DAMAGED: i32 = 1;
/// Nothing could.
const UNREADABLE: i32 = 2;

/// The options.
pub(crate) fn command() -> Command {
    Command::new("check")
        .about("Say what a recording is, what of it is damaged, and what was lost")
        .args(input::arguments())
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Answer as JSON"),
        )
        .arg(
            Arg::new("recording")
                .value_name("FILE")
                .conflicts_with("input")
                .help("Recording to check, as with -i"),
        )
}

/// Runs `data check`.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    let name = name(matches);
    let (answer, code) = match examine(matches) {
        Ok(found) => (
            describe(matches, &name, &found, program)?,
            if found.is_whole() { WHOLE } else { DAMAGED },
        ),
        // It says nothing about the recording.
        Err(failure) if failure.code() == code::OUT_OF_MEMORY => return Err(failure),
        Err(failure) => (refuse(matches, &name, &failure.to_string()), UNREADABLE),
    };
    let mut output = crate::output::stdout();
    output.write_all(&answer)?;
    output.finish()?;
    Ok(code)
}

fn examine(matches: &ArgMatches) -> Result<RecordingCheck, Failure> {
    let input = match matches.get_one::<String>("recording") {
        Some(path) => Input::open(path, matches.get_flag("force"))?,
        None => Input::from_matches(matches)?,
    };
    let reader = input.reader_of_any()?;
    RecordingCheck::run(&reader).map_err(|error| input.refuse(&error))
}

/// What the user called the recording.
fn name(matches: &ArgMatches) -> String {
    let named = ["recording", "input"]
        .iter()
        .find_map(|option| matches.get_one::<String>(option));
    named.cloned().unwrap_or_else(|| "perf.data".to_owned())
}

fn describe(
    matches: &ArgMatches,
    name: &str,
    found: &RecordingCheck,
    program: &str,
) -> Result<Vec<u8>, Failure> {
    if matches.get_flag("json") {
        let mut out = Vec::new();
        data_check::write_json(&mut out, name, found);
        return Ok(out);
    }
    let mut out = String::new();
    let convert = format!("{program} data convert --to-perf NEW -i {name}");
    data_check::write(&mut out, name, found, &convert)
        .map_err(|error| Failure::new(error.to_string()))?;
    Ok(out.into_bytes())
}

fn refuse(matches: &ArgMatches, name: &str, reason: &str) -> Vec<u8> {
    let mut out = Vec::new();
    if matches.get_flag("json") {
        data_check::write_unreadable_json(&mut out, name, reason);
    } else {
        out.extend_from_slice(format!("{name}: unreadable\n{reason}\n").as_bytes());
    }
    out
}
