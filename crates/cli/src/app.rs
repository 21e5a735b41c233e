//! The command line as a whole: which command runs, and what its outcome means to the shell.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;
use clap::error::ErrorKind;

use crate::alias::{self, Expanded};
use crate::arguments::{Invocation, build_id_argument};
use crate::configuration::Configuration;
use crate::failure::{Failure, code};
use crate::globals::{self, Request};
use crate::{bundled, cmd, environment, output, pager, resources};

const ABOUT: &str =
    "Find where programs spend their time: record, report and read perf.data, as Linux perf does.";

const EXAMPLES: &str = "\
Examples:
  oxperf profile -- ./program      record, print the hottest functions, write flamegraph.html
  oxperf record -g -- ./program    record call chains into perf.data
  oxperf report                    show perf.data as a table of functions and callers
  oxperf script | less             show every sample

'oxperf COMMAND --help' tells a command's options.";

/// The whole command line, with all that the parser adds to it: for those who describe it.
pub(crate) fn whole_command(program: &str) -> Command {
    let mut command = full_command(program);
    command.build();
    command
}

/// The whole command line.
pub(crate) fn full_command(program: &str) -> Command {
    command_of(program, cmd::ALL)
}

fn command_of(program: &str, commands: &[cmd::Entry]) -> Command {
    Command::new("oxperf")
        .bin_name(program)
        .about(ABOUT)
        .after_help(EXAMPLES.replace("oxperf", program))
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .arg(build_id_argument())
        .subcommands(commands.iter().map(|entry| {
            with_negations((entry.command)())
                .infer_long_args(true)
                .args_override_self(true)
        }))
}

/// As in perf, every switch `--x` can be taken back by `--no-x`, also where that is what it is without.
fn with_negations(command: Command) -> Command {
    let longs: Vec<String> = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .map(str::to_owned)
        .collect();
    let switches: Vec<(String, clap::Id)> = command
        .get_arguments()
        .filter(|switch| !switch.get_action().takes_values())
        .filter_map(|switch| {
            Some((
                format!("no-{}", switch.get_long()?),
                switch.get_id().clone(),
            ))
        })
        .collect();
    let absent = switches
        .into_iter()
        .filter(|(no, _)| !no.starts_with("no-no-") && !longs.contains(no));
    command.args(absent.map(|(no, id)| {
        clap::Arg::new(no.clone())
            .long(no)
            .action(clap::ArgAction::SetTrue)
            .overrides_with(id)
            .hide(true)
    }))
}

/// Runs the command line.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> Result<i32, Failure> {
    let arguments: Vec<OsString> = arguments.collect();
    let program = program_name(arguments.first());
    let (globals, request) = globals::parse(arguments.get(1..).unwrap_or_default(), &program)?;
    let invocation = Invocation {
        program,
        globals,
        configuration: Configuration::read(&environment::configuration_files()),
    };
    match request {
        Request::Command(words) => run_words(&invocation, words),
        request => answer(&invocation, &request),
    }
}

/// Answers a question about the program itself.
fn answer(invocation: &Invocation, request: &Request) -> Result<i32, Failure> {
    let program = &invocation.program;
    let text = match request {
        Request::Nothing => {
            output::print_error(&full_command(program).render_help().to_string());
            return Ok(code::USAGE_OF_PROGRAM);
        }
        Request::Version | Request::Features => {
            format!("{program} version {}", env!("CARGO_PKG_VERSION"))
        }
        Request::ListCommands => {
            let names: Vec<&str> = cmd::ALL.iter().map(|entry| entry.name).collect();
            names.join(" ")
        }
        Request::ListOptions => globals::LONG_OPTIONS.join(" "),
        Request::Help(_) | Request::ExecPath | Request::HtmlPath | Request::Command(_) => {
            full_command(program).render_help().to_string()
        }
    };
    output::print_line(text.trim_end())?;
    Ok(code::SUCCESS)
}

/// Runs a command, or what an alias stands for.
fn run_words(invocation: &Invocation, words: Vec<OsString>) -> Result<i32, Failure> {
    let is_command = |name: &str| cmd::ALL.iter().any(|entry| entry.name == name);
    match alias::expand(words, &invocation.configuration, &is_command)? {
        Expanded::Words(words) => run_command(invocation, &words),
        Expanded::Shell { line, words } => alias::run_shell(&line, &words),
    }
}

/// Runs a command with its words, its name first.
fn run_command(invocation: &Invocation, words: &[OsString]) -> Result<i32, Failure> {
    let program = &invocation.program;
    let called = cmd::ALL
        .iter()
        .find(|entry| words.first().is_some_and(|word| word == entry.name));
    let command = match called {
        Some(called) => command_of(program, std::slice::from_ref(called)),
        None => full_command(program),
    };
    let mut arguments = vec![OsString::from(program)];
    if let Some(folder) = &invocation.globals.build_id_dir {
        arguments.extend(["--buildid-dir".into(), folder.clone()]);
    }
    arguments.extend_from_slice(words);
    let (arguments, _unpacked) = bundled::open(arguments, &command)?;
    let matches = match command.try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => return refuse(program, error),
    };
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(code::USAGE_OF_PROGRAM);
    };
    let Some(entry) = cmd::ALL.iter().find(|entry| entry.name == name) else {
        return Ok(code::USAGE_OF_PROGRAM);
    };
    if entry.shares_work {
        resources::start_threads()?;
    }
    invocation.configuration.check(entry.name)?;
    let _pager = pager::start_for(invocation, entry.name);
    (entry.run)(matches, invocation)
}

/// The last part of the name that the program was called by.
fn program_name(first: Option<&OsString>) -> String {
    let name = first
        .and_then(|path| Path::new(path).file_name())
        .and_then(|name| name.to_str());
    name.unwrap_or("oxperf").to_owned()
}

/// Help is an answer; anything else that the parser stops at is a mistake with perf's exit code.
fn refuse(program: &str, error: clap::Error) -> Result<i32, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp => {
            output::print_line(error.render().to_string().trim_end())?;
            Ok(code::SUCCESS)
        }
        ErrorKind::InvalidSubcommand => {
            let name = error
                .get(clap::error::ContextKind::InvalidSubcommand)
                .map(ToString::to_string);
            let name = name.unwrap_or_default();
            output::print_error(&format!(
                "{program}: '{name}' is not a {program}-command. See '{program} --help'."
            ));
            Ok(code::USAGE_OF_PROGRAM)
        }
        _ => {
            output::print_error(error.render().to_string().trim_end());
            Ok(code::BAD_OPTION)
        }
    }
}

/// The exit code for the shell. A reader that went away, as `head` does, is no failure.
pub(crate) fn exit(outcome: Result<i32, Failure>) -> ExitCode {
    let code = match outcome {
        Ok(code) => code,
        Err(failure) if failure.is_closed_pipe() => code::SUCCESS,
        Err(failure) => {
            output::print_error(&failure.to_string());
            failure.code()
        }
    };
    ExitCode::from((resources::report_truncated(code) & 0xff) as u8)
}
