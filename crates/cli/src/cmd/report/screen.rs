//! `report` on a terminal: the browser, and what it cannot do by itself.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Command, Stdio};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use oxperf_analysis::profile::Profile;
use oxperf_data::Reader;
use oxperf_itrace::ItraceOptions;
use oxperf_tui::{Browser, End, Host, Look, run};

use super::arguments::Resolved;
use super::shown::Shown;
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::{environment, header, itrace, naming};

/// Most files that are tried for what a user writes out.
const MOST_EXPORTS: u32 = 10_000;

/// The option beside `--stdio`.
pub(super) fn argument() -> Arg {
    Arg::new("tui")
        .long("tui")
        .action(ArgAction::SetTrue)
        .overrides_with("stdio")
        .help("Show a browser on the terminal [default there]")
}

/// Whether the report is to be seen in a browser: on a terminal, unless text was asked for.
pub(super) fn is_wanted(matches: &ArgMatches) -> bool {
    let text = ["stdio", "header-only", "dump-raw-trace", "stats", "tasks", "mmaps"]
        .iter()
        .any(|name| matches.get_flag(name));
    let for_programs = matches.contains_id("field-separator")
        || super::html::is_asked(matches)
        || super::structured::is_asked(matches);
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    !text && !for_programs && terminal && !environment::is_dumb_terminal()
}

/// Shows the browser until the user leaves it.
pub(super) fn show(
    matches: &ArgMatches,
    (input, reader): (&Input, &Reader<'_>),
    profile: &Profile,
    options: &Resolved,
    shown: &Shown,
) -> Result<(), Failure> {
    let (hist, mut text) = options.for_profile(profile);
    shown.narrow(&mut text);
    // The browser has colours of its own.
    text.coloured = false;
    text.graph.iter_mut().for_each(|graph| graph.coloured = false);
    let mut browser = Browser::new(profile, hist, text);
    if let Some(part) = matches.get_one::<String>("symbol-filter") {
        browser.filter_symbols(part);
    }
    let mut host = Recording { matches, input, reader };
    let look = Look { colour: environment::wants_colour() };
    match run(&mut browser, &mut host, BufWriter::new(io::stdout()), look)? {
        End::Asked => Ok(()),
        // Whoever waits for us is to see that a signal ended us.
        End::Signal(signal) => Ok(oxperf_sys::kill_self(signal.number())?),
    }
}

/// The recording that is browsed.
struct Recording<'a> {
    matches: &'a ArgMatches,
    input: &'a Input,
    reader: &'a Reader<'a>,
}

impl Host for Recording<'_> {
    fn annotate(&mut self, symbol: &str, object: &str) -> Result<String, String> {
        let program = environment::program().ok_or("This program's file is not to be found")?;
        let output = Command::new(program)
            .args(["annotate", "--stdio", "--symbol", symbol, "--dsos", object, "--input"])
            .arg(self.input.path())
            .args(passed_on(self.matches))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("annotate cannot be started: {error}"))?;
        let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match told(&output.stdout) {
            text if !text.is_empty() => Ok(text),
            _ => Err(told(&output.stderr).lines().last().unwrap_or("annotate tells nothing").to_owned()),
        }
    }

    fn header(&mut self) -> Result<String, String> {
        Ok(header::text(self.input, self.reader, true))
    }

    fn export(&mut self, text: &str) -> Result<String, String> {
        for number in 0..MOST_EXPORTS {
            let name = format!("perf.hist.{number}");
            match OpenOptions::new().write(true).create_new(true).open(&name) {
                Ok(mut file) => {
                    let written = file.write_all(text.as_bytes());
                    return written.map(|()| name.clone()).map_err(|error| format!("{name}: {error}"));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        Err("There are too many files perf.hist.N here".to_owned())
    }
}

/// The options that say where names, code and trace come from, as they were given.
fn passed_on(matches: &ArgMatches) -> Vec<String> {
    let trace = itrace::arguments(ItraceOptions::ALL_LETTERS);
    let shared = input::arguments().into_iter().chain(naming::arguments()).chain(trace);
    let given = |arg: &Arg| {
        let id = arg.get_id().as_str();
        id != "input" && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    shared.filter(given).flat_map(|arg| as_given(&arg, matches)).collect()
}

fn as_given(arg: &Arg, matches: &ArgMatches) -> Vec<String> {
    let Some(long) = arg.get_long() else { return Vec::new() };
    if !arg.get_action().takes_values() {
        return vec![format!("--{long}")];
    }
    let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    values.map(|value| format!("--{long}={}", value.to_string_lossy())).collect()
}
