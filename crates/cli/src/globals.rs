//! The words before the command: options of the program itself, and the form of the request that they make.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::{Failure, code};

/// The long options before a command, as `--list-opts` prints them.
pub(crate) const LONG_OPTIONS: [&str; 12] = [
    "--help",
    "--version",
    "--exec-path",
    "--html-path",
    "--paginate",
    "--no-pager",
    "--debugfs-dir",
    "--buildid-dir",
    "--list-cmds",
    "--list-opts",
    "--debug",
    "--debug-file",
];

/// The form of a command line, below an error about its first words.
const SYNOPSIS: &str = "[--version] [--help] [OPTIONS] COMMAND [ARGS]";

/// The variables that `--debug` knows.
const DEBUG_VARIABLES: [&str; 7] = [
    "verbose",
    "ordered-events",
    "stderr",
    "data-convert",
    "perf-event-open",
    "kmaps",
    "type-profile",
];

/// The user's choice of a pager on the command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PagerChoice {
    /// The command and the configuration decide.
    #[default]
    AsConfigured,
    /// `-p`, `--paginate`: the output goes through a pager.
    Always,
    /// `--no-pager`: it does not.
    Never,
}

/// The options that stand before the command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct GlobalOptions {
    /// `--paginate` or `--no-pager`, the last of them.
    pub(crate) pager: PagerChoice,
    /// `--buildid-dir`: the cache of binaries by build id.
    pub(crate) build_id_dir: Option<OsString>,
    /// `--debugfs-dir`: the folder of the kernel's tracepoints.
    pub(crate) tracing_dir: Option<PathBuf>,
    /// `--debug-file`: the file for messages of debugging.
    pub(crate) debug_file: Option<PathBuf>,
    /// `--debug verbose=N`: how often `-v` is given to the command.
    pub(crate) verbosity: u8,
}

/// The request that the first words make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// Nothing but options.
    Nothing,
    /// `--help`, `-h`, with the command that it is about.
    Help(Vec<OsString>),
    /// `--version`, `-v`.
    Version,
    /// `-vv`: the version and the features.
    Features,
    /// `--list-cmds`.
    ListCommands,
    /// `--list-opts`.
    ListOptions,
    /// `--exec-path` without a path.
    ExecPath,
    /// `--html-path`.
    HtmlPath,
    /// A command and its words, the command's name first.
    Command(Vec<OsString>),
}

/// Reads the words behind the name of the program.
///
/// # Errors
/// A word is no option, or lacks its value.
pub(crate) fn parse(
    words: impl Iterator<Item = OsString>,
    program: &str,
) -> Result<(GlobalOptions, Request), Failure> {
    let mut parser = Parser {
        options: GlobalOptions::default(),
        rest: words.collect(),
    };
    let request = parser
        .parse()
        .map_err(|message| Failure::with_code(with_usage(&message, program), code::BAD_OPTION))?;
    Ok((parser.options, request))
}

/// A message with the form of a command line below it.
fn with_usage(message: &str, program: &str) -> String {
    format!("{message}\n\n Usage: {program} {SYNOPSIS}")
}

impl GlobalOptions {
    /// Opens what the options name before a command runs.
    ///
    /// # Errors
    /// The file for messages cannot be made.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        let Some(path) = &self.debug_file else {
            return Ok(());
        };
        let made = std::fs::File::create(path);
        made.map(drop).map_err(|error| {
            Failure::new(format!(
                "cannot write the debug file {}: {error}",
                path.display()
            ))
        })
    }
}

struct Parser {
    options: GlobalOptions,
    rest: VecDeque<OsString>,
}

impl Parser {
    fn parse(&mut self) -> Result<Request, String> {
        while let Some(word) = self.rest.front().cloned() {
            let text = word.to_string_lossy();
            if !text.starts_with('-') {
                return Ok(Request::Command(self.all_the_rest()));
            }
            self.rest.pop_front();
            if let Some(request) = self.option(&text)? {
                return Ok(request);
            }
        }
        Ok(Request::Nothing)
    }

    fn all_the_rest(&mut self) -> Vec<OsString> {
        std::mem::take(&mut self.rest).into()
    }

    /// Takes an option; gives the request that it is, if it is one.
    fn option(&mut self, word: &str) -> Result<Option<Request>, String> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (word, None),
        };
        match (name, &attached) {
            ("-h" | "--help", None) => {
                return Ok(Some(Request::Help(self.all_the_rest())));
            }
            ("-v" | "--version", None) => return Ok(Some(Request::Version)),
            ("-vv", None) => return Ok(Some(Request::Features)),
            ("--list-cmds", None) => return Ok(Some(Request::ListCommands)),
            ("--list-opts", None) => return Ok(Some(Request::ListOptions)),
            ("--html-path", None) => return Ok(Some(Request::HtmlPath)),
            ("--exec-path", None) => return Ok(Some(Request::ExecPath)),
            // There are no parts of this program elsewhere.
            ("--exec-path", Some(_)) => {}
            ("-p" | "--paginate", None) => self.options.pager = PagerChoice::Always,
            ("--no-pager", None) => self.options.pager = PagerChoice::Never,
            _ => return self.valued(word, name, attached).map(|()| None),
        }
        Ok(None)
    }

    /// Takes an option that needs a value, attached or in the next word.
    fn valued(&mut self, word: &str, name: &str, attached: Option<OsString>) -> Result<(), String> {
        let missing = match name {
            "--buildid-dir" | "--debugfs-dir" => format!("No directory given for {name}."),
            "--debug-file" => format!("No path given for {name}."),
            "--debug" => format!("No variable specified for {name}."),
            _ => return Err(format!("Unknown option: {word}")),
        };
        let value = attached.or_else(|| self.rest.pop_front()).ok_or(missing)?;
        match name {
            "--buildid-dir" => self.options.build_id_dir = Some(value),
            "--debugfs-dir" => self.options.tracing_dir = Some(value.into()),
            "--debug-file" => self.options.debug_file = Some(value.into()),
            _ => self.debug(&value.to_string_lossy())?,
        }
        Ok(())
    }

    /// `--debug NAME[=N]`.
    fn debug(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        if !DEBUG_VARIABLES.contains(&name) {
            return Err(format!("Unknown option name '{name}'"));
        }
        if name == "verbose" {
            let level: i32 = value.trim().parse().unwrap_or(1);
            self.options.verbosity = level.clamp(0, 10) as u8;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<(GlobalOptions, Request), String> {
        parse(words.iter().map(OsString::from), "perf").map_err(|failure| failure.to_string())
    }

    fn command(words: &[&str]) -> Request {
        Request::Command(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn options_end_at_the_command() {
        let (options, request) =
            read(&["--no-pager", "--buildid-dir", "/b", "report", "--help"]).unwrap();
        assert_eq!(options.pager, PagerChoice::Never);
        assert_eq!(options.build_id_dir, Some("/b".into()));
        assert_eq!(request, command(&["report", "--help"]));
        let (options, request) = read(&["-p", "--debugfs-dir=/d", "script"]).unwrap();
        assert_eq!(options.pager, PagerChoice::Always);
        assert_eq!(options.tracing_dir, Some("/d".into()));
        assert_eq!(request, command(&["script"]));
        assert_eq!(read(&["--debug", "verbose=2", "x"]).unwrap().0.verbosity, 2);
        assert_eq!(read(&["--exec-path=/x"]).unwrap().1, Request::Nothing);
        assert_eq!(read(&["-vv"]).unwrap().1, Request::Features);
    }

    #[test]
    fn mistakes_are_named() {
        let usage = "\n\n Usage: perf [--version] [--help] [OPTIONS] COMMAND [ARGS]";
        for (words, message) in [
            (&["--frob"][..], "Unknown option: --frob"),
            (&["-vvv"], "Unknown option: -vvv"),
            (&["--buildid-dir"], "No directory given for --buildid-dir."),
            (&["--debug"], "No variable specified for --debug."),
            (&["--debug", "foo=1", "x"], "Unknown option name 'foo'"),
            (&["--debug-file"], "No path given for --debug-file."),
        ] {
            assert_eq!(read(words).unwrap_err(), format!("{message}{usage}"));
        }
    }
}
