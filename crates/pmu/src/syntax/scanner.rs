//! A position in an event text.

use crate::SyntaxProblem;

#[derive(Clone)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0 }
    }

    /// The byte that comes next.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Takes the character if it comes next.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        self.take_text(wanted.encode_utf8(&mut [0; 4]))
    }

    /// Takes the text if it comes next.
    pub(super) fn take_text(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// Takes characters as long as they belong.
    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|char| !belongs(char)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    pub(super) fn skip_spaces(&mut self) {
        self.take_while(|char| char.is_ascii_whitespace());
    }

    /// The text from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// The error for text that does not belong here. perf points at the character before it.
    pub(super) fn unexpected(&self) -> SyntaxProblem {
        SyntaxProblem::unrecognized(self.at.checked_sub(1).unwrap_or(1))
    }
}
