//! What a program made of each text, kept in a file.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::machine::Machine;
use super::opens;
use super::texts::EventText;

/// What a program made of a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Answer {
    /// The exit code of `record --dry-run`.
    pub(super) exit: i32,
    /// The events that `record` opens, one a line: attribute, CPUs, leader; empty where the text is not taken.
    pub(super) opened: Vec<String>,
}

/// The answers of one program on one machine.
#[derive(Default)]
pub(super) struct Answers {
    /// What the answers depend on, beside the texts.
    stamp: String,
    of_texts: HashMap<String, Answer>,
}

impl Answers {
    /// The answers that an earlier run kept, if the program is still the same.
    pub(super) fn read(path: &Path, stamp: &str) -> Result<Answers> {
        let mut answers = Answers {
            stamp: stamp.to_owned(),
            of_texts: HashMap::new(),
        };
        let Ok(kept) = std::fs::read_to_string(path) else {
            return Ok(answers);
        };
        let mut lines = kept.lines();
        if lines.next() != Some(stamp) {
            return Ok(answers);
        }
        for line in lines {
            let mut fields = line.split('\t');
            let (text, exit) = (fields.next(), fields.next());
            let (text, exit) = text.zip(exit).context("a kept answer without exit code")?;
            let answer = Answer {
                exit: exit.parse()?,
                opened: fields.map(str::to_owned).collect(),
            };
            answers.of_texts.insert(text.to_owned(), answer);
        }
        Ok(answers)
    }

    /// Keeps the answers.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut rows: Vec<String> = self
            .of_texts
            .iter()
            .map(|(text, answer)| {
                let fields = [text.clone(), answer.exit.to_string()];
                let fields = fields.into_iter().chain(answer.opened.iter().cloned());
                fields.collect::<Vec<_>>().join("\t")
            })
            .collect();
        rows.sort();
        rows.insert(0, self.stamp.clone());
        std::fs::write(path, rows.join("\n") + "\n")?;
        Ok(())
    }

    /// Asks the program for the answers that are missing.
    pub(super) fn ask(
        &mut self,
        machine: &Machine,
        program: &Path,
        texts: &[EventText],
    ) -> Result<()> {
        let texts = texts.iter().map(|text| text.text.as_str());
        let missing: Vec<&str> = texts
            .filter(|text| !self.of_texts.contains_key(*text))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let exits = machine.dry_runs(program, &missing)?;
        let taken: Vec<&str> = missing
            .iter()
            .zip(&exits)
            .filter(|(text, exit)| **exit == 0 && opens::is_comparable(text))
            .map(|(text, _)| *text)
            .collect();
        let mut opened = opens::of(machine, program, &taken)?;
        for (text, exit) in missing.into_iter().zip(exits) {
            let opened = opened.remove(text).unwrap_or_default();
            let answer = Answer { exit, opened };
            self.of_texts.insert(text.to_owned(), answer);
        }
        Ok(())
    }

    /// The answer for a text.
    pub(super) fn of(&self, text: &str) -> Option<&Answer> {
        self.of_texts.get(text)
    }
}
