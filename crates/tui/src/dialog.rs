//! A line that is typed.

use crate::key::Key;

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// A part of a function's name.
    Symbol,
    /// The least percentage.
    Limit,
    /// Keys of rows.
    Sort,
    /// A program that reads samples.
    Program,
    /// A text to find in a pager.
    Find,
}

impl Question {
    /// The words above the line.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Question::Symbol => "Show functions whose names contain (empty: all):",
            Question::Limit => "Hide rows below this percentage:",
            Question::Sort => "Tell rows apart by (comm, dso, sym, pid, tgid):",
            Question::Program => "Program that reads samples as JSON, a line each:",
            Question::Find => "Find:",
        }
    }
}

/// A question and the answer so far.
#[derive(Clone, Debug)]
pub(crate) struct Dialog {
    pub(crate) question: Question,
    pub(crate) text: String,
}

/// The state of a dialog after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The answer is not complete.
    Open,
    /// There is none.
    Left,
    /// It is complete.
    Given,
}

impl Dialog {
    pub(crate) fn press(&mut self, key: Key) -> Answer {
        match key {
            Key::Char(c) => self.text.push(c),
            Key::Backspace => drop(self.text.pop()),
            Key::Enter => return Answer::Given,
            Key::Escape => return Answer::Left,
            _ => {}
        }
        Answer::Open
    }
}
