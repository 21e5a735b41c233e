//! The pager: another program that shows a command's text page by page, where standard output is a terminal.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use oxperf_sys::Redirection;

use crate::arguments::Invocation;
use crate::configuration;
use crate::environment;
use crate::globals::PagerChoice;

/// The commands that start the pager themselves, after they know what they show.
const STARTED_BY_COMMAND: [&str; 8] = [
    "annotate",
    "buildid-cache",
    "buildid-list",
    "config",
    "diff",
    "list",
    "report",
    "script",
];

/// The habit of a command, where neither options nor configuration say anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Habit {
    /// Its text is paged.
    Paged,
    /// It is not.
    Unpaged,
}

/// A pager that reads standard output. Dropped, it gets the end of the text, and is waited for.
pub(crate) struct Pager {
    process: Child,
    redirection: Option<Redirection>,
}

impl Drop for Pager {
    fn drop(&mut self) {
        // A user who left the pager early wants no more text.
        let _ = io::stdout().flush();
        self.redirection = None;
        let _ = self.process.wait();
    }
}

/// Starts the pager for a command that does not do so itself.
pub(crate) fn start_for(invocation: &Invocation, command: &str) -> Option<Pager> {
    match STARTED_BY_COMMAND.contains(&command) {
        true => None,
        false => start(invocation, command, Habit::Unpaged),
    }
}

/// Starts the pager, if a command's text is to be paged; without one that can be started, text goes to the terminal.
/// Colours are to be decided before.
pub(crate) fn start(invocation: &Invocation, command: &str, habit: Habit) -> Option<Pager> {
    let choice = Choice::new(invocation, command, habit);
    if !choice.paged || !io::stdout().is_terminal() {
        return None;
    }
    let program = environment::pager(choice.program)?;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(program).stdin(Stdio::piped());
    if !environment::is_set("LESS") {
        shell.env("LESS", "FRSX");
    }
    let mut process = shell.spawn().ok()?;
    let input = process.stdin.take()?;
    let redirection = Redirection::begin(input.as_fd(), process.id()).ok();
    Some(Pager {
        process,
        redirection,
    })
}

/// The answer of options, configuration and habit.
#[derive(Debug, PartialEq, Eq)]
struct Choice<'a> {
    paged: bool,
    /// The program of the configuration.
    program: Option<&'a str>,
}

impl Choice<'_> {
    fn new<'a>(invocation: &'a Invocation, command: &str, habit: Habit) -> Choice<'a> {
        let configured = invocation.configuration.text(&format!("pager.{command}"));
        let asked = configured.map(|value| (configuration::flag(value), value));
        let (configured, program) = match asked {
            Some((Some(paged), _)) => (Some(paged), None),
            Some((None, program)) => (Some(true), Some(program)),
            None => (None, None),
        };
        let paged = match invocation.globals.pager {
            PagerChoice::Always => true,
            PagerChoice::Never => false,
            PagerChoice::AsConfigured => configured.unwrap_or(habit == Habit::Paged),
        };
        Choice { paged, program }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Configuration;
    use crate::globals::GlobalOptions;

    #[test]
    fn options_come_before_configuration_and_habit() {
        let chosen = |pager, text: &str, habit| {
            let invocation = Invocation {
                program: "perf".into(),
                globals: GlobalOptions {
                    pager,
                    ..GlobalOptions::default()
                },
                configuration: Configuration::of_text(text),
                guests: None,
                engine: None,
            };
            let choice = Choice::new(&invocation, "script", habit);
            (choice.paged, choice.program.map(str::to_owned))
        };
        use Habit::{Paged, Unpaged};
        use PagerChoice::{Always, AsConfigured, Never};
        assert_eq!(chosen(AsConfigured, "", Paged), (true, None));
        assert_eq!(chosen(AsConfigured, "", Unpaged), (false, None));
        assert_eq!(chosen(Always, "", Unpaged), (true, None));
        assert_eq!(chosen(Never, "[pager]\nscript=yes\n", Paged), (false, None));
        assert_eq!(
            chosen(AsConfigured, "[pager]\nscript=off\n", Paged),
            (false, None)
        );
        assert_eq!(
            chosen(AsConfigured, "[pager]\nscript=most -s\n", Unpaged),
            (true, Some("most -s".into()))
        );
    }
}
