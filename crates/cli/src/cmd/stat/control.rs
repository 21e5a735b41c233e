//! Commands to a measurement that goes on (`--control`): where they come from, and what each does.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use oxperf_capture::count::{CountedEvent, CountingRun};
use oxperf_capture::{CaptureError, ControlChannel, ControlCommand, ControlMessage};
use oxperf_present::text::sanitize;
use oxperf_sys::{Errno, files};

use super::problem::StatProblem;
use crate::cmd::record::opens;
use crate::output::print_error;

/// What is said of a command that cannot be understood.
const WRONG_COMMAND: &str = "failed: wrong command";

/// Where commands come from and answers go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ControlSource {
    /// Descriptors that this program was given.
    Descriptors { commands: i32, answers: Option<i32> },
    /// Named pipes.
    Pipes {
        commands: PathBuf,
        answers: Option<PathBuf>,
    },
}

impl ControlSource {
    /// Reads `fd:COMMANDS[,ANSWERS]` or `fifo:COMMANDS[,ANSWERS]`.
    pub(super) fn parse(text: &str) -> Option<ControlSource> {
        let (kind, rest) = text.split_once(':')?;
        let (commands, answers) = match rest.split_once(',') {
            Some((commands, answers)) => (commands, Some(answers)),
            None => (rest, None),
        };
        match kind {
            "fd" => Some(ControlSource::Descriptors {
                commands: commands.parse().ok()?,
                answers: answers.map(str::parse).transpose().ok()?,
            }),
            "fifo" if !commands.is_empty() => Some(ControlSource::Pipes {
                commands: PathBuf::from(commands),
                answers: answers.filter(|path| !path.is_empty()).map(PathBuf::from),
            }),
            _ => None,
        }
    }

    /// Opens both.
    ///
    /// # Errors
    /// One cannot be opened.
    pub(super) fn open(&self) -> Result<ControlChannel, StatProblem> {
        let (commands, answers) = match self {
            ControlSource::Descriptors { commands, answers } => {
                (given(*commands)?, answers.map(given).transpose()?)
            }
            ControlSource::Pipes { commands, answers } => {
                (pipe(commands)?, answers.as_ref().map(pipe).transpose()?)
            }
        };
        Ok(ControlChannel::new(commands, answers))
    }
}

fn given(number: i32) -> Result<File, StatProblem> {
    let file = files::of_descriptor(number);
    file.map_err(|error| {
        StatProblem::no_control(&format!("descriptor {number}"), Errno::of(&error))
    })
}

/// A pipe that is open for both sides does not wait for the other, and does not end with it.
fn pipe(path: &PathBuf) -> Result<File, StatProblem> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| {
        let name = sanitize(&path.to_string_lossy()).into_owned();
        StatProblem::no_control(&format!("'{name}'"), Errno::of(&error))
    })
}

/// Does what a message asks for; returns whether it is to be answered.
///
/// # Errors
/// The kernel's answer.
pub(super) fn obey(
    verbosity: u8,
    run: &CountingRun<'_>,
    message: &ControlMessage,
) -> Result<bool, CaptureError> {
    let text = sanitize(&message.text);
    if verbosity > 0 {
        print_error(&format!("Message from ctl_fd: \"{text}\\n\""));
    }
    match &message.command {
        ControlCommand::Enable(event) => set_counting(run, event.as_deref(), true)?,
        ControlCommand::Disable(event) => set_counting(run, event.as_deref(), false)?,
        ControlCommand::ListEvents(options) => list_events(run.counters().events(), options),
        ControlCommand::Wrong => print_error(WRONG_COMMAND),
        // The end of the target ends the measurement, as in perf.
        ControlCommand::Ping | ControlCommand::Stop => {}
        ControlCommand::Snapshot => return Ok(false),
        ControlCommand::Unknown => {
            if verbosity > 0 {
                print_error("ctlfd: unsupported 0");
            }
            return Ok(false);
        }
    }
    Ok(true)
}

fn set_counting(
    run: &CountingRun<'_>,
    event: Option<&str>,
    counts: bool,
) -> Result<(), CaptureError> {
    let is_known = run.set_counting(event, counts)?;
    let done = if counts { "enabled" } else { "disabled" };
    let event = event.map(sanitize);
    print_error(&match event {
        None => format!("Events {done}"),
        Some(name) if is_known => format!("Event {name} {done}"),
        Some(name) => format!("failed: can't find '{name}' event"),
    });
    Ok(())
}

/// Lists the events on standard error.
fn list_events(events: &[CountedEvent], options: &str) {
    let text = listing(events, options);
    print_error(text.as_deref().map_or(WRONG_COMMAND, str::trim_end));
}

fn listing(events: &[CountedEvent], options: &str) -> Option<String> {
    let mut text = String::new();
    let is_member_of = |event: &CountedEvent, leader: usize| event.request().leader == Some(leader);
    for (index, event) in events.iter().enumerate() {
        let name = sanitize(&event.request().name);
        // Writing to a String cannot fail.
        let _ = match options {
            "" => writeln!(text, "{name}"),
            "-v" => writeln!(text, "{name}: {}", opens::fields_text(&event.planned)),
            "-F" => writeln!(text, "{name}: sample_period=0"),
            "-g" if event.request().leader.is_some() => Ok(()),
            "-g" => {
                let members = events.iter().filter(|other| is_member_of(other, index));
                let names: Vec<_> = members.map(|own| sanitize(&own.request().name)).collect();
                match names.is_empty() {
                    true => writeln!(text, "{name}"),
                    false => writeln!(text, "{{{name},{}}}", names.join(",")),
                }
            }
            _ => return None,
        };
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_and_pipes() {
        let both = ControlSource::Descriptors {
            commands: 5,
            answers: Some(6),
        };
        assert_eq!(ControlSource::parse("fd:5,6"), Some(both));
        let pipe = ControlSource::Pipes {
            commands: "/a".into(),
            answers: None,
        };
        assert_eq!(ControlSource::parse("fifo:/a,"), Some(pipe));
        for text in ["fd:", "fd:x", "fd:1,x", "fifo:", "nosuch", "x:1"] {
            assert_eq!(ControlSource::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_opened_is_named() {
        let source = ControlSource::parse("fifo:/no/such/pipe").unwrap();
        let problem = source.open().unwrap_err();
        assert_eq!(
            problem.message,
            "Failed to open '/no/such/pipe': No such file or directory\n"
        );
        assert!(ControlSource::parse("fd:-1").unwrap().open().is_err());
    }
}
