//! A check, its surroundings, and its outcome.

use std::fmt::Display;
use std::path::PathBuf;

/// A check, or several under one number.
#[derive(Debug)]
pub struct SelfTest {
    /// Its number on the command line.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// The cure of a machine or build on which it fails or skips.
    pub remedy: &'static str,
    /// The checks.
    pub body: Body,
}

/// The checks of a number.
#[derive(Debug)]
pub enum Body {
    /// One.
    Whole(Check),
    /// Several, numbered from 1.
    Parts(&'static [Part]),
}

/// One of several checks under a number.
#[derive(Debug)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// The check.
    pub check: Check,
}

/// A check: notes go to the trial.
pub type Check = fn(&mut Trial<'_>) -> Result<(), Shortfall>;

/// The reason why a check did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shortfall {
    /// It cannot be made here.
    Skip(String),
    /// It was made, and something is wrong.
    Failure(String),
}

impl Shortfall {
    /// The check cannot be made here.
    pub(crate) fn skip(reason: impl Display) -> Shortfall {
        Shortfall::Skip(reason.to_string())
    }

    /// Something is wrong.
    pub(crate) fn failure(reason: impl Display) -> Shortfall {
        Shortfall::Failure(reason.to_string())
    }
}

/// Fails with the reason unless the condition holds.
pub(crate) fn ensure(holds: bool, reason: impl Display) -> Result<(), Shortfall> {
    if holds {
        Ok(())
    } else {
        Err(Shortfall::failure(reason))
    }
}

/// The surroundings of checks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Environment {
    /// This program.
    pub program: PathBuf,
    /// The object of the check `Symbols`; `None` for the program.
    pub dso: Option<PathBuf>,
    /// The disassembler of `Object code reading`, if code is to be compared with its text, too.
    pub objdump: Option<PathBuf>,
    /// An existing folder for files; whoever made it removes it.
    pub scratch: PathBuf,
}

/// A run of a check.
#[derive(Debug)]
pub struct Trial<'e> {
    /// The surroundings.
    pub environment: &'e Environment,
    notes: String,
}

impl<'e> Trial<'e> {
    /// A run that has noted nothing.
    pub fn new(environment: &'e Environment) -> Trial<'e> {
        Trial {
            environment,
            notes: String::new(),
        }
    }

    /// Remembers a line for whoever asks for details.
    pub(crate) fn note(&mut self, line: impl Display) {
        self.notes.push_str(&line.to_string());
        self.notes.push('\n');
    }

    /// The noted lines; names in them are untrusted.
    pub fn notes(&self) -> &str {
        &self.notes
    }
}
