//! The command lines that are compared: `xtask/record-lines.tsv`.
//!
//! ```text
//! # a comment
//! MACHINE TAB WORDS            the words behind `record` on a made-up machine, or `kvm OPTIONS record WORDS`
//! here    TAB WORDS            the same on the machine that runs the comparison
//! ```
//!
//! `./loop` is the program whose trace the made-up machines play. A machine is one of `../shared/tools/fakemachine`, or of `xtask/machines`. `SECTION.KEY=VALUE ; ` before the words is a
//! setting of the configuration file, and `NAME=VALUE ; ` without a point one of the environment.

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
/// The beginning of words that are not those of `record`, and what stands before the others.
const KVM: &str = "kvm ";
const RECORD: &str = "record ";

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

    /// The settings, as names and values, and what stands behind them.
    fn parts(&self) -> (Vec<(&str, &str)>, &str) {
        let (mut settings, mut rest) = (Vec::new(), &*self.words);
        while let Some((setting, behind)) = rest.split_once(BEHIND_SETTING)
            && let Some((name, value)) = setting.split_once('=')
            && !name.contains(' ')
        {
            settings.push((name, value));
            rest = behind;
        }
        (settings, rest)
    }

    /// The command and its words, for a shell; `output` is the recording.
    pub(super) fn command(&self, output: &str) -> String {
        let (_, words) = self.parts();
        let kvm = words.strip_prefix(KVM).and_then(|rest| {
            let (options, words) = rest.split_once(RECORD)?;
            Some((format!("{KVM}{options}"), words))
        });
        let (before, words) = kvm.unwrap_or((String::new(), words));
        format!("{before}record -o {output} {words}")
    }

    /// The text of the configuration file.
    pub(super) fn configuration(&self) -> String {
        let settings = self.parts().0.into_iter();
        let named = settings.filter_map(|(key, value)| Some((key.split_once('.')?, value)));
        named
            .map(|((section, name), value)| format!("[{section}]\n\t{name} = {value}\n"))
            .collect()
    }

    /// The variables of the environment.
    pub(super) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = self.parts().0.into_iter();
        settings.filter(|(name, _)| !name.contains('.'))
    }

    /// Returns whether an event writes a trace.
    pub(super) fn is_about_traces(&self) -> bool {
        self.words.contains("intel_pt/")
    }

    /// The exit code of the program.
    pub(super) fn workload_exit(&self) -> i32 {
        const OF_TRACED_PROGRAM: i32 = 22;
        if self.runs_traced_program() {
            OF_TRACED_PROGRAM
        } else {
            0
        }
    }

    /// Returns whether the program is the one whose trace the made-up machines play.
    pub(super) fn runs_traced_program(&self) -> bool {
        self.words.split(' ').any(|word| word == "./loop")
    }

    /// Returns whether the trace is short, and what it has in it does not depend on when samples are taken.
    pub(super) fn is_traced_alike(&self) -> bool {
        let is_other = |word| self.words.contains(word);
        self.runs_traced_program() && !["aux-sample", "FAKE_AUX_REPEAT"].into_iter().any(is_other)
    }

    /// Returns whether that program is named.
    pub(super) fn names_traced_program(&self) -> bool {
        self.words.contains("./loop")
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
            (&lines[0].place, &*lines[0].command("x")),
            (&Place::Here, "record -o x -a true")
        );
        assert_eq!(lines[0].configuration(), "");
        assert_eq!(lines[1].command("x"), "record -o x -g true");
        assert_eq!(lines[1].configuration(), "[record]\n\tcall-graph = dwarf\n");
        assert_eq!(lines[1].environment().next(), None);
        assert!(parse("here -a").is_err());
    }

    #[test]
    fn several_settings_may_stand_before_a_command_about_guests() {
        let lines = parse("x\tA=1 ; b.c=2 ; kvm --host record -D 1 sh -c 'a=1 ; b'\n").unwrap();
        assert_eq!(lines[0].environment().collect::<Vec<_>>(), [("A", "1")]);
        assert_eq!(lines[0].configuration(), "[b]\n\tc = 2\n");
        assert_eq!(
            lines[0].command("x"),
            "kvm --host record -o x -D 1 sh -c 'a=1 ; b'"
        );
        assert!(!lines[0].runs_traced_program());
    }
}
