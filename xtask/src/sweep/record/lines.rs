//! The command lines that are compared: `xtask/record-lines.tsv`.
//!
//! ```text
//! # a comment
//! MACHINE TAB WORDS            the words behind `record` on a made-up machine
//! here    TAB WORDS            the same on the machine that runs the comparison
//! ```
//!
//! `KEY=VALUE ;` before the words is a setting of the configuration file.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Where a command line runs.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A made-up machine.
    Machine(String),
    /// The running one.
    Here,
}

impl Place {
    pub(super) fn name(&self) -> &str {
        match self {
            Place::Machine(name) => name,
            Place::Here => HERE,
        }
    }
}

const HERE: &str = "here";
/// What stands between a setting and the words.
const BEHIND_SETTING: &str = " ; ";

/// One command line.
pub(super) struct RecordLine {
    pub(super) place: Place,
    /// All that stands in the line.
    pub(super) words: String,
}

impl RecordLine {
    pub(super) fn title(&self) -> String {
        format!("{}/{}", self.place.name(), self.words)
    }

    /// The words behind `record`, for a shell.
    pub(super) fn words(&self) -> &str {
        let behind = self.words.split_once(BEHIND_SETTING);
        behind.map_or(&self.words, |(_, words)| words)
    }

    /// The text of the configuration file.
    pub(super) fn configuration(&self) -> String {
        let setting = self.words.split_once(BEHIND_SETTING);
        let setting = setting.and_then(|(setting, _)| setting.split_once('='));
        let named = setting.and_then(|(key, value)| Some((key.split_once('.')?, value)));
        named.map_or_else(String::new, |((section, name), value)| {
            format!("[{section}]\n\t{name} = {value}\n")
        })
    }
}

/// Reads all lines.
pub(super) fn read(path: &Path) -> Result<Vec<RecordLine>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<RecordLine>> {
    let lines = text.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(line).collect()
}

fn line(line: &str) -> Result<RecordLine> {
    let (place, words) = line.split_once('\t').context("no tab")?;
    ensure!(!words.is_empty(), "no words: {line:?}");
    Ok(RecordLine {
        place: match place {
            HERE => Place::Here,
            machine => Place::Machine(machine.to_owned()),
        },
        words: words.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_stands_before_the_words() {
        let lines =
            parse("# x\nhere\t-a true\npower8\trecord.call-graph=dwarf ; -g true\n").unwrap();
        assert_eq!(
            (&lines[0].place, lines[0].words()),
            (&Place::Here, "-a true")
        );
        assert_eq!(lines[0].configuration(), "");
        assert_eq!(lines[1].words(), "-g true");
        assert_eq!(lines[1].configuration(), "[record]\n\tcall-graph = dwarf\n");
        assert!(parse("here -a").is_err());
    }
}
