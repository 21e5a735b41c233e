//! The program `perf` that hands each command to the program that the file `routes` beside it names.
//!
//! Tests expect the name `perf` in samples, which the kernel takes from the file that is executed: so this is a copy of
//! the task runner by that name, and what it executes is called `perf`, too.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

/// The file that says which program runs which command.
const ROUTES: &str = "routes";

/// The command that stands for what the workloads are started with.
pub(super) const WORKLOADS: &str = "test -w";
/// The command that stands for all others.
pub(super) const OTHERS: &str = "*";

/// A command, the program that runs it, and a variable of its environment.
pub(super) struct Route {
    pub(super) command: String,
    pub(super) program: PathBuf,
    /// `NAME=VALUE`.
    pub(super) variable: Option<String>,
}

/// Writes the routes of the launcher in a folder; a command that has none goes to that of [`OTHERS`].
pub(super) fn write(folder: &Path, routes: &[Route]) -> Result<()> {
    let line = |route: &Route| {
        let variable = route.variable.as_deref().unwrap_or("-");
        format!(
            "{}\t{}\t{variable}\n",
            route.command,
            route.program.display()
        )
    };
    let text: String = routes.iter().map(line).collect();
    Ok(std::fs::write(folder.join(ROUTES), text)?)
}

/// Runs the command, if this process is a launcher; it does not return when the program is found.
pub(crate) fn run() -> Option<ExitCode> {
    let program = std::env::current_exe().ok()?;
    (program.file_name()? == "perf").then(|| match launch(program.parent()?) {
        Ok(never) => Some(never),
        Err(error) => {
            eprintln!("launcher of perf: {error:#}");
            Some(ExitCode::FAILURE)
        }
    })?
}

fn launch(folder: &Path) -> Result<ExitCode> {
    let text = std::fs::read_to_string(folder.join(ROUTES)).context(ROUTES)?;
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let command = command(&words);
    let routes: Vec<Route> = text.lines().filter_map(parse).collect();
    let route = routes.iter().find(|route| route.command == command);
    let route = route
        .or_else(|| routes.iter().find(|route| route.command == OTHERS))
        .context("no program for this command")?;
    let mut started = Command::new(&route.program);
    started.arg0("perf").args(&words);
    if let Some((name, value)) = route
        .variable
        .as_deref()
        .and_then(|text| text.split_once('='))
    {
        started.env(name, value);
    }
    Err(started.exec()).with_context(|| route.program.display().to_string())
}

/// Names the command of a command line. Workloads, and the list of symbols that scripts look for in them, are one.
fn command(words: &[OsString]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let first = words.first().cloned().unwrap_or_default();
    let of_workloads = ["-w", "--workload", "--list-workloads", "Symbols"];
    if first == "test"
        && words
            .iter()
            .any(|word| of_workloads.contains(&word.as_str()))
    {
        return WORKLOADS.to_owned();
    }
    first
}

fn parse(line: &str) -> Option<Route> {
    let mut columns = line.split('\t').map(str::to_owned);
    Some(Route {
        command: columns.next()?,
        program: columns.next()?.into(),
        variable: columns.next().filter(|text| text != "-"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_a_command_of_their_own() {
        let of = |line: &str| command(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("test -w noploop 2"), WORKLOADS);
        assert_eq!(of("test -vv -F Symbols"), WORKLOADS);
        assert_eq!(of("test -j 3"), "test");
        assert_eq!(of("record -- perf test -w noploop"), "record");
        assert_eq!(of("--version"), "--version");
    }

    #[test]
    fn a_line_of_routes_is_read_as_it_is_written() {
        let route = parse("script\t/bin/perf\tPYTHONHOME=/usr").unwrap();
        assert_eq!(
            (route.command.as_str(), route.program),
            ("script", PathBuf::from("/bin/perf"))
        );
        assert_eq!(route.variable.as_deref(), Some("PYTHONHOME=/usr"));
        assert!(parse("*\t/bin/perf\t-").unwrap().variable.is_none());
    }
}
