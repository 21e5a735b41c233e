//! The command line as a whole: which command runs, and what its outcome means to the shell.

mod foreign;
mod manual_text;
mod overview;
mod refusal;
mod typos;

use std::borrow::Cow;
use std::ffi::OsString;
use std::iter;
use std::path::Path;
use std::process::ExitCode;

use clap::Command;

use crate::alias::{self, Expanded};
use crate::arguments::{Invocation, build_id_argument};
use crate::configuration::Configuration;
use crate::failure::{Failure, code};
use crate::globals::{self, GlobalOptions, Request};
use crate::pager::Habit;
use crate::sql::SqlEngine;
use crate::words::{self, Mistake, Reading};
use crate::{bundled, cmd, environment, features, output, pager, resources, usage};

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
        .about(overview::ABOUT)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .arg(build_id_argument())
        .subcommands(
            commands
                .iter()
                .map(|entry| (entry.command)().args_override_self(true)),
        )
}

/// Runs the command line.
pub(crate) fn run(
    arguments: impl Iterator<Item = OsString>,
    engine: Option<&'static dyn SqlEngine>,
) -> Result<i32, Failure> {
    let arguments: Vec<OsString> = arguments.collect();
    let (program, command) = names(arguments.first());
    let words = arguments.into_iter().skip(1);
    let (globals, request) = match command {
        Some(command) => {
            let words = iter::once(command).chain(words).collect();
            (GlobalOptions::default(), Request::Command(words))
        }
        None => globals::parse(words, &program)?,
    };
    globals.prepare()?;
    let invocation = Invocation {
        program,
        globals,
        configuration: Configuration::read(&environment::configuration_files()),
        guests: None,
        engine,
    };
    match request {
        Request::Command(words) => run_words(&invocation, words),
        Request::Help(words) => {
            let words = [vec![HELP.into()], words].concat();
            run_command(&invocation, &words)
        }
        request => answer(&invocation.program, &request),
    }
}

/// Answers a question about the program itself.
fn answer(program: &str, request: &Request) -> Result<i32, Failure> {
    let text = match request {
        Request::Nothing => {
            output::print_line(&overview::text(program, &commands()))?;
            return Ok(code::USAGE_OF_PROGRAM);
        }
        Request::Help(_) | Request::Command(_) => return Ok(code::USAGE_OF_PROGRAM),
        Request::Version => features::version(program),
        Request::Features => format!("{}\n{}", features::version(program), features::all()),
        Request::ListCommands => list_of_commands(),
        Request::ListOptions => globals::LONG_OPTIONS
            .iter()
            .map(|option| format!("{option} "))
            .collect(),
        Request::ExecPath => folder(&["..", "lib", "perf-core"]),
        Request::HtmlPath => folder(&["..", "share", "doc", "oxperf"]),
    };
    output::print_line(text.trim_end_matches('\n'))?;
    Ok(code::SUCCESS)
}

/// A folder of the installation, by its path from the folder of the program.
fn folder(path: &[&str]) -> String {
    let program = environment::program().unwrap_or_default();
    let mut folder = program.parent().unwrap_or(Path::new("/")).to_owned();
    for part in path {
        match *part {
            ".." => {
                folder.pop();
            }
            part => folder.push(part),
        }
    }
    folder.to_string_lossy().into_owned()
}

/// The commands that are shown, with a line about each, by name.
fn commands() -> Vec<(String, String)> {
    let all = cmd::ALL.iter().map(|entry| (entry.command)());
    let shown = all.filter(|command| !command.is_hide_set());
    let mut commands: Vec<(String, String)> = shown
        .map(|command| {
            let about = command.get_about().map(ToString::to_string);
            (command.get_name().to_owned(), about.unwrap_or_default())
        })
        .collect();
    commands.sort();
    commands
}

/// The command that shows manuals.
const HELP: &str = "help";

/// Their names in a line, as `--list-cmds` prints them.
fn list_of_commands() -> String {
    let commands = commands();
    commands
        .iter()
        .map(|(name, _)| format!("{name} "))
        .collect()
}

/// `help [COMMAND]`, which is also `--help COMMAND`: a manual, or the list of commands.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn help(invocation: &Invocation, words: &[String]) -> Result<i32, Failure> {
    let program = &invocation.program;
    let Some((word, below)) = words.split_first().filter(|(word, _)| *word != program) else {
        let _pager = pager::start(invocation, HELP, Habit::Unpaged);
        output::print_line(&overview::text(program, &commands()))?;
        return Ok(code::SUCCESS);
    };
    let Some(entry) = cmd::ALL.iter().find(|entry| word == entry.name) else {
        return Ok(unknown(program, word));
    };
    let command = (entry.command)();
    let below: Vec<OsString> = below.iter().map(OsString::from).collect();
    let (called, below) = words::called(&command, &below);
    let path = [vec![entry.name.to_owned()], below].concat();
    show_manual(invocation, called, &path)
}

/// Shows the manual of a command, given by its words; page by page on a terminal, as `man` does.
fn show_manual(
    invocation: &Invocation,
    command: &Command,
    path: &[String],
) -> Result<i32, Failure> {
    let _pager = pager::start(invocation, HELP, Habit::Paged);
    output::print_line(&manual_text::text(command, &invocation.program, path))?;
    Ok(code::SUCCESS)
}

/// Refuses a command that does not exist, or not yet; gives the exit code.
fn unknown(program: &str, name: &str) -> i32 {
    let message = foreign::refusal(program, name).unwrap_or_else(|| {
        let own = commands();
        let mut known: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
        for name in foreign::names() {
            known.push(name);
        }
        typos::refusal(program, name, &known)
    });
    output::print_error(&message);
    code::USAGE_OF_PROGRAM
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
///
/// # Errors
/// See the command.
pub(crate) fn run_command(invocation: &Invocation, words: &[OsString]) -> Result<i32, Failure> {
    let program = &invocation.program;
    let Some((name, rest)) = words.split_first() else {
        return Ok(code::USAGE_OF_PROGRAM);
    };
    let Some(entry) = cmd::ALL.iter().find(|entry| name == entry.name) else {
        return Ok(unknown(program, &name.to_string_lossy()));
    };
    let root = command_of(program, std::slice::from_ref(entry));
    let Some(command) = root.find_subcommand(entry.name) else {
        return Ok(code::USAGE_OF_PROGRAM);
    };
    let rest = words::named_first(command, &root, rest);
    let (called, below) = words::called(command, &rest);
    let path = [vec![entry.name.to_owned()], below].concat();
    let rest = &rest[path.len() - 1..];
    let reading = match words::read(called, &root, &with_globals(called, invocation, rest)) {
        Ok(reading) => reading,
        Err(mistake) => return Ok(refuse(called, program, &path, &mistake)),
    };
    let words = match reading {
        Reading::Run(words) => words,
        question => return explain(called, &question, invocation, &path),
    };
    let mut arguments = vec![OsString::from(program)];
    arguments.extend(path.iter().map(OsString::from));
    arguments.extend(words);
    let (arguments, _unpacked) = bundled::open(arguments, &root)?;
    let matches = match root.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let command = (entry.command)();
            let below: Vec<OsString> = path.iter().skip(1).map(OsString::from).collect();
            let (called, _) = words::called(&command, &below);
            return Ok(refuse(called, program, &path, &refusal::mistake(&error)));
        }
    };
    let Some((_, matches)) = matches.subcommand() else {
        return Ok(code::USAGE_OF_PROGRAM);
    };
    if entry.shares_work {
        resources::start_threads()?;
    }
    invocation.configuration.check(entry.name)?;
    let _pager = pager::start_for(invocation, entry.name);
    (entry.run)(matches, invocation)
}

/// Says what is wrong with the words of a command; gives the exit code.
fn refuse(command: &Command, program: &str, path: &[String], mistake: &Mistake) -> i32 {
    let forms = usage::forms(command, program, path);
    output::print_error(&usage::with_mistake(command, &forms, mistake));
    code::BAD_OPTION
}

/// The words of a command, with those before it that are for it.
fn with_globals<'w>(
    command: &Command,
    invocation: &Invocation,
    words: &'w [OsString],
) -> Cow<'w, [OsString]> {
    let globals = &invocation.globals;
    let mut all: Vec<OsString> = Vec::new();
    if let Some(folder) = &globals.build_id_dir {
        all.extend(["--buildid-dir".into(), folder.clone()]);
    }
    let is_verbose = |argument: &clap::Arg| argument.get_long() == Some("verbose");
    if command.get_arguments().any(is_verbose) {
        all.extend((0..globals.verbosity).map(|_| "--verbose".into()));
    }
    if all.is_empty() {
        return Cow::Borrowed(words);
    }
    all.extend_from_slice(words);
    Cow::Owned(all)
}

/// Answers a question about a command, given by its words.
fn explain(
    command: &Command,
    question: &Reading,
    invocation: &Invocation,
    path: &[String],
) -> Result<i32, Failure> {
    let text = match question {
        Reading::Usage(about) => {
            let forms = usage::forms(command, &invocation.program, path);
            output::print_error(&usage::text(command, &forms, about));
            return Ok(code::BAD_OPTION);
        }
        Reading::ListOptions => usage::long_options(command),
        Reading::ListCommands if path == [HELP] => list_of_commands(),
        Reading::ListCommands => usage::words_below(command, path),
        Reading::Manual | Reading::Run(_) => return show_manual(invocation, command, path),
    };
    output::print_line(&text)?;
    Ok(code::LISTED)
}

/// The name of the program, and the command that is part of the name that it was called by: `perf-report`.
fn names(first: Option<&OsString>) -> (String, Option<OsString>) {
    let name = first
        .and_then(|path| Path::new(path).file_name())
        .and_then(|name| name.to_str());
    let name = name.unwrap_or("oxperf");
    if let Some((program @ ("perf" | "oxperf"), command)) = name.split_once('-')
        && cmd::ALL.iter().any(|entry| entry.name == command)
    {
        return (program.to_owned(), Some(command.into()));
    }
    (name.to_owned(), None)
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
