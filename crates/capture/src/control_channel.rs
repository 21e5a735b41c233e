//! Commands to a measurement that goes on, a line each, and the answers to them.

use std::fs::File;
use std::io::{Read, Write};

/// The most bytes of a line; what is longer is no command.
const LONGEST: usize = 4096;
/// The answer to a command; its last byte is perf's, too.
const ANSWER: &[u8] = b"ack\n\0";

/// Commands that are taken without the end of their line: `printf stop` is meant.
const WHOLE: [&str; 6] = ["enable", "disable", "evlist", "ping", "stop", "snapshot"];

/// Ends a line.
fn is_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\0')
}

/// What a line asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControlCommand {
    /// Count, all events or the named one.
    Enable(Option<String>),
    /// Do not count, all events or the named one.
    Disable(Option<String>),
    /// List the events, in the way that these options say.
    ListEvents(String),
    /// Answer.
    Ping,
    /// End the measurement.
    Stop,
    /// Take a snapshot.
    Snapshot,
    /// `enable` or `disable` with something that is no name behind it.
    Wrong,
    /// Nobody knows.
    Unknown,
}

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlMessage {
    /// As it came, without the end of the line.
    pub text: String,
    /// What it asks for.
    pub command: ControlCommand,
}

impl ControlMessage {
    fn parse(text: String) -> ControlMessage {
        let command = command(&text);
        ControlMessage { text, command }
    }
}

fn command(text: &str) -> ControlCommand {
    let event = |rest: &str, command: fn(Option<String>) -> ControlCommand| match rest {
        "" => command(None),
        rest => match rest.strip_prefix(' ') {
            Some(name) => command(Some(name.to_owned())),
            None => ControlCommand::Wrong,
        },
    };
    if let Some(rest) = text.strip_prefix("enable") {
        event(rest, ControlCommand::Enable)
    } else if let Some(rest) = text.strip_prefix("disable") {
        event(rest, ControlCommand::Disable)
    } else if let Some(options) = text.strip_prefix("evlist") {
        ControlCommand::ListEvents(options.trim().to_owned())
    } else if text.starts_with("ping") {
        ControlCommand::Ping
    } else if text.starts_with("stop") {
        ControlCommand::Stop
    } else if text.starts_with("snapshot") {
        ControlCommand::Snapshot
    } else {
        ControlCommand::Unknown
    }
}

/// Where commands come from, and where answers go.
#[derive(Debug)]
pub struct ControlChannel {
    /// None when its other side is gone.
    commands: Option<File>,
    answers: Option<File>,
    /// The line so far.
    line: Vec<u8>,
}

impl ControlChannel {
    /// Takes the files of both.
    pub fn new(commands: File, answers: Option<File>) -> ControlChannel {
        ControlChannel {
            commands: Some(commands),
            answers,
            line: Vec::new(),
        }
    }

    /// The file to wait on.
    pub(crate) fn commands(&self) -> Option<&File> {
        self.commands.as_ref()
    }

    /// Reads once, which does not wait where something is there to be read; gives the lines that are complete.
    pub(crate) fn take(&mut self) -> Vec<ControlMessage> {
        let mut bytes = [0; LONGEST];
        let read = self.commands.as_mut().map(|file| file.read(&mut bytes));
        match read {
            Some(Ok(count)) if count > 0 => self.line.extend_from_slice(&bytes[..count]),
            Some(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // The other side is gone, or cannot be read: nothing more comes.
            _ => self.commands = None,
        }
        let lines = self.take_lines();
        if self.line.len() > LONGEST {
            self.line.clear();
        }
        lines
    }

    fn take_lines(&mut self) -> Vec<ControlMessage> {
        let end = self.line.iter().rposition(is_end).map_or(0, |end| end + 1);
        let rest = &self.line[end..];
        let end = match WHOLE.iter().any(|command| command.as_bytes() == rest) {
            true => self.line.len(),
            false => end,
        };
        let complete: Vec<u8> = self.line.drain(..end).collect();
        let lines = complete.split(is_end).filter(|line| !line.is_empty());
        lines
            .map(|line| ControlMessage::parse(String::from_utf8_lossy(line).into_owned()))
            .collect()
    }

    /// Answers that a command was obeyed. Who does not listen is not missed.
    pub fn acknowledge(&mut self) {
        if let Some(answers) = &mut self.answers {
            let _ = answers.write_all(ANSWER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(text: &[u8]) -> (std::io::PipeWriter, ControlChannel) {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(text).unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(reader));
        (writer, ControlChannel::new(file, None))
    }

    #[test]
    fn lines_are_commands() {
        let name = |name: &str| Some(name.to_owned());
        let cases = [
            ("enable", ControlCommand::Enable(None)),
            ("disable cs", ControlCommand::Disable(name("cs"))),
            ("enable ", ControlCommand::Enable(name(""))),
            ("enablex", ControlCommand::Wrong),
            ("evlist -v", ControlCommand::ListEvents("-v".to_owned())),
            ("ping  ", ControlCommand::Ping),
            ("stop", ControlCommand::Stop),
            ("snapshot", ControlCommand::Snapshot),
            ("nosuch", ControlCommand::Unknown),
        ];
        for (text, expected) in cases {
            assert_eq!(command(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_may_come_in_pieces_and_the_end_ends_it() {
        let (mut writer, mut channel) = channel(b"ping\n\nena");
        let commands = |channel: &mut ControlChannel| {
            let messages = channel.take();
            messages
                .into_iter()
                .map(|own| own.command)
                .collect::<Vec<_>>()
        };
        assert_eq!(commands(&mut channel), [ControlCommand::Ping]);
        writer.write_all(b"ble\n").unwrap();
        assert_eq!(commands(&mut channel), [ControlCommand::Enable(None)]);
        writer.write_all(b"disable cs\0stop").unwrap();
        let named = ControlCommand::Disable(Some("cs".to_owned()));
        assert_eq!(commands(&mut channel), [named, ControlCommand::Stop]);
        writer.write_all(b"\n").unwrap();
        assert!(commands(&mut channel).is_empty());
        drop(writer);
        assert!(commands(&mut channel).is_empty() && channel.commands().is_none());
        assert!(commands(&mut channel).is_empty());
    }

    #[test]
    fn a_line_without_end_does_not_grow() {
        let (mut writer, mut channel) = channel(&[b'x'; LONGEST]);
        for _ in 0..3 {
            assert!(channel.take().is_empty());
            assert!(channel.line.len() <= LONGEST);
            writer.write_all(&[b'x'; LONGEST]).unwrap();
        }
    }

    #[test]
    fn commands_are_answered() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let (_writer, mut channel) = channel(b"");
        channel.answers = Some(File::from(std::os::fd::OwnedFd::from(writer)));
        channel.acknowledge();
        drop(channel);
        let mut answer = Vec::new();
        reader.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, ANSWER);
    }
}
