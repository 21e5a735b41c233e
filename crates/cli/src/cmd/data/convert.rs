//! `data convert`: a recording in another form.

mod perf_file;

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::failure::{Failure, code};
use crate::input::{self, Input};
use crate::output::print_error;

/// A form that a recording can be converted to.
struct Target {
    /// The option that asks for it; its value is where the result goes.
    option: &'static str,
    help: &'static str,
    /// What messages call the form.
    name: &'static str,
    /// Whether `--all` and `--tod` mean something for it.
    takes_all: bool,
    takes_tod: bool,
    run: fn(&Request<'_>) -> Result<Converted, Failure>,
}

/// All forms, in the order of the help.
const TARGETS: [Target; 1] = [Target {
    option: "to-perf",
    help: "Write one plain perf.data file that every perf opens, whatever form the recording has",
    name: "perf",
    takes_all: false,
    takes_tod: false,
    run: perf_file::run,
}];

/// What is to be converted.
struct Request<'a> {
    input: &'a Input,
    /// Where the result goes.
    output: &'a Path,
    /// Whether an output that exists may be replaced.
    force: bool,
}

/// What a conversion made.
struct Converted {
    bytes: u64,
    samples: u64,
}

/// The options.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    let target =
        |target: Target| Arg::new(target.option).long(target.option).value_name("FILE").help(target.help);
    Command::new("convert")
        .about("Convert a recording to another form")
        .args(input::arguments())
        .arg(flag("all", "Convert all events, not only samples"))
        .arg(flag("tod", "Convert times to those of the wall clock"))
        .arg(flag("verbose", "Accepted for perf's sake").short('v'))
        .args(TARGETS.map(target))
}

/// Runs `data convert`.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    let (target, output) = target(matches)?;
    check_flags(&target, matches)?;
    let force = matches.get_flag("force");
    if !force && output.exists() {
        return Err(Failure::new("Output file exists. Use --force to overwrite it."));
    }
    let input = Input::from_matches(matches)?;
    let done = (target.run)(&Request { input: &input, output, force })?;
    let (from, to) = (input.path().display(), output.display());
    print_error(&format!("[ {program} data convert: Converted '{from}' into {} data '{to}' ]", target.name));
    let megabytes = done.bytes as f64 / f64::from(1 << 20);
    let samples = done.samples;
    print_error(&format!(
        "[ {program} data convert: Converted and wrote {megabytes:.3} MB ({samples} samples) ]"
    ));
    Ok(code::SUCCESS)
}

/// The one form that is asked for, and where it goes.
fn target(matches: &ArgMatches) -> Result<(Target, &Path), Failure> {
    let named = |target: Target| {
        let path = matches.get_one::<String>(target.option)?;
        Some((target, Path::new(path.as_str())))
    };
    let mut wanted: Vec<(Target, &Path)> = TARGETS.into_iter().filter_map(named).collect();
    match (wanted.pop(), wanted.pop()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Failure::new(format!("You must specify one of {}.", list(" or ")))),
        (Some(_), Some(_)) => {
            Err(Failure::new(format!("You cannot specify more than one of {}.", list(" and "))))
        }
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

fn check_flags(target: &Target, matches: &ArgMatches) -> Result<(), Failure> {
    let flags = [("all", target.takes_all), ("tod", target.takes_tod)];
    let senseless = flags.iter().find(|(flag, takes)| matches.get_flag(flag) && !takes);
    match senseless {
        Some((flag, _)) => Err(Failure::new(format!(
            "--{flag} is currently unsupported for {} output.",
            target.name.to_uppercase()
        ))),
        None => Ok(()),
    }
}
