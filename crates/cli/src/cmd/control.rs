//! Commands to a measurement that goes on (`--control`): where they come from, and what is said to them.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

use oxperf_abi::AttrFlags;
use oxperf_capture::ControlChannel;
use oxperf_capture::plan::PlannedEvent;
use oxperf_present::text::sanitize;
use oxperf_sys::{Errno, files};

use super::record::opens;

/// What is said to a command that is wrong.
pub(crate) const WRONG: &str = "failed: wrong command";

/// Where commands come from and answers go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ControlSource {
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
    pub(crate) fn parse(text: &str) -> Option<ControlSource> {
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
    pub(crate) fn open(&self) -> Result<ControlChannel, Unopened> {
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

fn given(number: i32) -> Result<File, Unopened> {
    let file = files::of_descriptor(number);
    file.map_err(|error| Unopened::new(format!("descriptor {number}"), &error))
}

/// A pipe that is open for both sides does not wait for the other, and does not end with it.
fn pipe(path: &PathBuf) -> Result<File, Unopened> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| {
        let name = sanitize(&path.to_string_lossy()).into_owned();
        Unopened::new(format!("'{name}'"), &error)
    })
}

/// A source of commands that cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unopened {
    name: String,
    errno: Errno,
}

impl Unopened {
    fn new(name: String, error: &io::Error) -> Unopened {
        Unopened {
            name,
            errno: Errno::of(error),
        }
    }
}

impl std::fmt::Display for Unopened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Failed to open {}: {}", self.name, self.errno)
    }
}

/// What is wrong with a text that names no source.
pub(crate) fn no_source(text: &str) -> String {
    let text = sanitize(text);
    format!("'{text}' is neither fd:COMMANDS[,ANSWERS] nor fifo:COMMANDS[,ANSWERS]")
}

/// What is said when events count, or do so no more: all, or the one of a name, if there is one.
pub(crate) fn counting_text(event: Option<&str>, is_known: bool, counts: bool) -> String {
    let done = if counts { "enabled" } else { "disabled" };
    match event.map(sanitize) {
        None => format!("Events {done}"),
        Some(name) if is_known => format!("Event {name} {done}"),
        Some(name) => format!("failed: can't find '{name}' event"),
    }
}

/// The events, in the way that the options of `evlist` say; `None` where they are none.
pub(crate) fn listing(events: &[&PlannedEvent], options: &str) -> Option<String> {
    let mut text = String::new();
    for (index, event) in events.iter().enumerate() {
        let name = sanitize(&event.request.name);
        // Writing to a String cannot fail.
        let _ = match options {
            "" => writeln!(text, "{name}"),
            "-v" => writeln!(text, "{name}: {}", opens::fields_text(event)),
            "-F" => writeln!(text, "{name}: {}", rate_text(event)),
            "-g" if event.request.leader.is_some() => Ok(()),
            "-g" => {
                let is_member = |other: &&&PlannedEvent| other.request.leader == Some(index);
                let members = events.iter().filter(is_member);
                let names: Vec<_> = members.map(|own| sanitize(&own.request.name)).collect();
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

fn rate_text(event: &PlannedEvent) -> String {
    let unit = match event.attr.flags.contains(AttrFlags::FREQ) {
        true => "sample_freq",
        false => "sample_period",
    };
    format!("{unit}={}", event.attr.sample_period)
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
        let unopened = source.open().unwrap_err();
        assert_eq!(
            unopened.to_string(),
            "Failed to open '/no/such/pipe': No such file or directory"
        );
        assert!(ControlSource::parse("fd:-1").unwrap().open().is_err());
    }
}
