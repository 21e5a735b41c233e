//! `data convert`: a recording in another form.

mod ctf;
mod json;
mod perf_file;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_data::Reader;
use oxperf_query::TimeWindows;
use oxperf_sys::files::create_output;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::{self, Input};
use crate::naming;
use crate::output::print_error;

/// A form that a recording can be converted to.
struct Target {
    /// The option that asks for it; its value is where the result goes.
    option: &'static str,
    value: &'static str,
    help: &'static str,
    /// What messages call the form.
    name: &'static str,
    /// Which of the [`OPTIONS`] mean something for it.
    takes: &'static [&'static str],
    run: fn(&Request<'_>) -> Result<Converted, Failure>,
}

/// All forms, in the order of the help.
const TARGETS: [Target; 3] = [
    Target {
        option: "to-ctf",
        value: "DIR",
        help: "Write a trace of the Common Trace Format, which babeltrace2 and Trace Compass read",
        name: "CTF",
        takes: &["all", "tod", "time"],
        run: ctf::run,
    },
    Target {
        option: "to-json",
        value: "FILE",
        help: "Write the header and every sample as JSON, addresses with their names",
        name: "JSON",
        takes: &["time"],
        run: json::run,
    },
    Target {
        option: "to-perf",
        value: "FILE",
        help: "Write one plain perf.data file that every perf opens, whatever form the recording has",
        name: "perf",
        takes: &[],
        run: perf_file::run,
    },
];

/// Options that not every form takes.
const OPTIONS: [&str; 3] = ["all", "tod", "time"];

/// What is to be converted.
struct Request<'a> {
    input: &'a Input,
    /// Where the result goes.
    output: &'a Path,
    /// Whether an output that exists may be replaced.
    force: bool,
    /// The options, for those that only some forms take.
    matches: &'a ArgMatches,
}

impl Request<'_> {
    /// A new file for its owner alone, as the recording is. With `--force` it takes the place of one that was there.
    fn create_file(&self) -> Result<File, Failure> {
        let path = self.output.display();
        if self.input.is_read_from(self.output) {
            return Err(Failure::new(format!(
                "{path} is the recording itself: name another file"
            )));
        }
        let failed = |error: io::Error| Failure::new(format!("cannot create {path}: {error}"));
        match self.force {
            true => create_output(self.output),
            false => File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(self.output),
        }
        .map_err(failed)
    }

    /// The samples that are asked for, by their time.
    fn times(&self, reader: &Reader<'_>) -> Result<Option<TimeWindows>, Failure> {
        let text = self.matches.get_one::<String>("time");
        let windows = text.map(|text| TimeWindows::parse(text, reader));
        Ok(windows.transpose()?)
    }
}

/// What a conversion made.
struct Converted {
    bytes: u64,
    samples: u64,
    /// Other records, where they are asked for.
    others: Option<u64>,
    /// Samples outside of the times that were asked for.
    skipped: u64,
}

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "convert",
    command,
    run,
    shares_work: true,
};

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
        .args(input::arguments())
        .arg(flag("all", "Convert all events, not only samples"))
        .arg(flag("tod", "Convert times to those of the wall clock"))
        .arg(
            Arg::new("time")
                .long("time")
                .value_name("START,STOP")
                .help("Convert samples of these seconds only; also 10%/2, 0%-10%, several"),
        )
        .arg(flag("verbose", "Accepted for perf's sake").short('v'))
        .args(TARGETS.map(target))
        .next_help_heading("Names")
        .args(naming::arguments())
}

/// Runs `data convert`.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    let (target, output) = target(matches)?;
    check_options(&target, matches)?;
    let force = matches.get_flag("force");
    if !force && is_taken(output) {
        return Err(Failure::new(
            "Output file exists. Use --force to overwrite it.",
        ));
    }
    let input = Input::from_matches(matches)?;
    let done = (target.run)(&Request {
        input: &input,
        output,
        force,
        matches,
    })?;
    let (from, to) = (input.path().display(), output.display());
    print_error(&format!(
        "[ {program} data convert: Converted '{from}' into {} data '{to}' ]",
        target.name
    ));
    let megabytes = done.bytes as f64 / f64::from(1 << 20);
    let (samples, others) = (done.samples, done.others);
    let others = others
        .map(|count| format!(", {count} non-samples"))
        .unwrap_or_default();
    print_error(&format!(
        "[ {program} data convert: Converted and wrote {megabytes:.3} MB ({samples} samples{others}) ]"
    ));
    if done.skipped > 0 {
        print_error(&format!(
            "[ {program} data convert: Skipped {} samples ]",
            done.skipped
        ));
    }
    Ok(code::SUCCESS)
}

/// Whether something is there that a result would replace; an empty folder is not.
fn is_taken(output: &Path) -> bool {
    match fs::read_dir(output) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => output.exists(),
    }
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
