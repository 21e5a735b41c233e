//! `-s PROGRAM`: a program of the user's reads the events.
//!
//! It gets the lines of `--format jsonl` on its standard input; what it writes goes where ours would. Its exit code
//! becomes ours. A program that ends before the events do has seen enough: that is no error.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::arguments::ProgramRequest;
use super::perf_program;
use crate::failure::Failure;
use crate::output::Output;

/// A program that reads the events.
pub(super) struct EventReader {
    child: Child,
    name: String,
}

/// Starts the program that is asked for, if any; gives the writer to it.
pub(super) fn start(program: &ProgramRequest) -> Result<Option<(EventReader, Output)>, Failure> {
    let mut arguments = program.arguments.iter();
    let Some(named) = &program.name else {
        return arguments
            .next()
            .map_or(Ok(None), |first| Err(unexpected(first, arguments.next())));
    };
    if let Some(refusal) = perf_program::refusal(named) {
        return Err(refusal);
    }
    let mut command = command(named);
    command.args(arguments);
    let failed = |error: std::io::Error| {
        let hint = match error.kind() {
            ErrorKind::NotFound => "\nName an executable file, or one that ends in .py or .pl",
            ErrorKind::PermissionDenied => "\nIs it executable? chmod +x makes it so",
            _ => "",
        };
        Failure::new(format!("cannot run {named}: {error}{hint}"))
    };
    let mut child = command.stdin(Stdio::piped()).spawn().map_err(failed)?;
    let Some(stdin) = child.stdin.take() else {
        return Err(Failure::new(format!("cannot write to {named}")));
    };
    Ok(Some((
        EventReader {
            child,
            name: named.clone(),
        },
        Output::new(stdin),
    )))
}

/// The refusal of an argument that no program is there for: what looks like an option is most likely a misspelt one.
fn unexpected(argument: &str, next: Option<&String>) -> Failure {
    if let ("report" | "record", Some(name)) = (argument, next) {
        return perf_program::named(name);
    }
    Failure::bad_option(match argument.starts_with('-') {
        true => format!("error: unexpected argument '{argument}' found\nSee: oxperf script --help"),
        false => return perf_program::named(argument),
    })
}

/// What runs a file: the language before a colon, else that of its suffix, else itself.
fn command(named: &str) -> Command {
    if let Some((language, file)) = named.split_once(':')
        && !Path::new(named).exists()
    {
        let mut command = Command::new(if language == "python" {
            "python3"
        } else {
            language
        });
        command.arg(file);
        return command;
    }
    let interpreter = match Path::new(named)
        .extension()
        .and_then(|suffix| suffix.to_str())
    {
        Some("py") => "python3",
        Some("pl") => "perl",
        // A bare name is a file here, not a program of the PATH.
        _ if !named.contains('/') && Path::new(named).exists() => {
            return Command::new(Path::new(".").join(named));
        }
        _ => return Command::new(named),
    };
    let mut command = Command::new(interpreter);
    command.arg(named);
    command
}

impl EventReader {
    /// Waits for the program after its input has ended; gives the exit code to pass on.
    pub(super) fn wait(mut self) -> Result<i32, Failure> {
        let status = self.child.wait();
        let status = status
            .map_err(|error| Failure::new(format!("cannot wait for {}: {error}", self.name)))?;
        // As shells tell of a program that a signal ended.
        Ok(status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(named: &str) -> Vec<String> {
        let command = command(named);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn suffixes_and_languages_name_what_runs() {
        assert_eq!(words("a/b.py"), ["python3", "a/b.py"]);
        assert_eq!(words("b.pl"), ["perl", "b.pl"]);
        assert_eq!(words("python:x"), ["python3", "x"]);
        assert_eq!(words("ruby:x.rb"), ["ruby", "x.rb"]);
        assert_eq!(words("/usr/bin/wc"), ["/usr/bin/wc"]);
    }
}
