//! Text to be looked through: help, the header, a function's code.

use oxperf_present::text::sanitize;

use crate::key::Key;

/// Columns that a tab goes on to a multiple of.
const TAB: usize = 8;
/// Columns that the text moves sideways.
const SIDEWAYS: usize = 8;

/// A text and where it is looked at.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) top: usize,
    pub(crate) left: usize,
    /// The text that was searched last.
    pub(crate) find: String,
}

/// The state of a pager after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paged {
    /// It is still looked at.
    Open,
    /// It was left.
    Left,
    /// A text to look for is wanted.
    AskFind,
}

impl Pager {
    pub(crate) fn new(title: &str, text: &str) -> Pager {
        let lines = text
            .lines()
            .map(|line| sanitize(&without_tabs(line)).into_owned())
            .collect();
        Pager {
            title: title.to_owned(),
            lines,
            top: 0,
            left: 0,
            find: String::new(),
        }
    }

    /// Does what a key means on a screen of `height` lines.
    pub(crate) fn press(&mut self, key: Key, height: usize) -> Paged {
        let page = height.saturating_sub(1).max(1);
        match key {
            Key::Up => self.top = self.top.saturating_sub(1),
            Key::Down | Key::Enter => self.top += 1,
            Key::PageUp => self.top = self.top.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => self.top += page,
            Key::Home => self.top = 0,
            Key::End => self.top = self.lines.len(),
            Key::Char('<') => self.left = self.left.saturating_sub(SIDEWAYS),
            Key::Char('>') => self.left += SIDEWAYS,
            Key::Char('/') => return Paged::AskFind,
            Key::Char('n') => self.find_next(),
            Key::Char('H') => self.go_hottest(height),
            Key::Escape | Key::Left | Key::Char('q') => return Paged::Left,
            _ => {}
        }
        self.top = self.top.min(self.lines.len().saturating_sub(height));
        Paged::Open
    }

    /// Goes to the line that begins with the largest number, if any does: the hottest instruction of a function. It comes
    /// to the middle of the screen.
    pub(crate) fn go_hottest(&mut self, height: usize) {
        let numbers = self
            .lines
            .iter()
            .enumerate()
            .filter_map(|(at, line)| Some((at, leading_number(line)?)));
        let hottest = numbers.reduce(|most, next| if next.1 > most.1 { next } else { most });
        let top = hottest.map_or(self.top, |(at, _)| at.saturating_sub(height / 2));
        self.top = top.min(self.lines.len().saturating_sub(height));
    }

    /// Goes to the next line with what is looked for; stays when there is none.
    pub(crate) fn find_next(&mut self) {
        let found = |line: &String| !self.find.is_empty() && line.contains(&self.find);
        if let Some(on) = self.lines.iter().skip(self.top + 1).position(found) {
            self.top += 1 + on;
        } else if let Some(first) = self.lines.iter().position(found) {
            self.top = first;
        }
    }
}

/// The number that a line begins with: what an instruction cost.
pub(crate) fn leading_number(line: &str) -> Option<f64> {
    line.split_whitespace().next()?.parse().ok()
}

/// Blanks for tabs.
fn without_tabs(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        let width = if c == '\t' { TAB - column % TAB } else { 1 };
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', width)),
            c => text.push(c),
        }
        column += width;
    }
    text
}
