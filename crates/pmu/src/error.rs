//! The faults of an event text, in perf's shape.

use std::fmt;

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxProblem {
    /// Byte of the text that the finding points at.
    pub position: usize,
    /// The fault, on the caret's line.
    pub message: String,
    /// More lines below, when there is more to say.
    pub help: Option<String>,
    /// The name of an event or a PMU that the system does not have, where that is the fault.
    pub unknown: Option<String>,
}

impl SyntaxProblem {
    pub(crate) fn new(position: usize, message: impl Into<String>) -> SyntaxProblem {
        SyntaxProblem {
            position,
            message: message.into(),
            help: None,
            unknown: None,
        }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> SyntaxProblem {
        self.help = Some(help.into());
        self
    }

    /// The text could not be read further.
    pub(crate) fn unrecognized(position: usize) -> SyntaxProblem {
        SyntaxProblem::new(position, "Unrecognized input")
    }
}

/// An event text that cannot be used: the text and at least one finding, the general one first.
///
/// [`fmt::Display`] prints what perf prints before its usage lines, for a terminal of 80 columns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The whole text.
    pub text: String,
    /// The findings.
    pub problems: Vec<SyntaxProblem>,
}

impl SyntaxError {
    pub(crate) fn new(text: &str, problems: Vec<SyntaxProblem>) -> SyntaxError {
        SyntaxError {
            text: text.to_owned(),
            problems,
        }
    }

    /// The findings as lines for a terminal of so many columns, each followed by its help. Control characters are
    /// replaced.
    pub fn render(&self, columns: usize) -> String {
        let shown = harmless(&self.text);
        let findings = self
            .problems
            .iter()
            .map(|problem| render_problem(&shown, problem, columns));
        findings.collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(80))
    }
}

impl std::error::Error for SyntaxError {}

const HEADLINE: &str = "event syntax error: '";

/// The finding's place is kept within so many characters of the start.
const FARTHEST: usize = 13;

fn render_problem(shown: &[char], problem: &SyntaxProblem, columns: usize) -> String {
    let (window, caret) = window(shown, problem.position, columns);
    let indent = " ".repeat(HEADLINE.len() + caret);
    let mut text = format!(
        "{HEADLINE}{window}'\n{indent}\\___ {}",
        text_of(&harmless(&problem.message))
    );
    for line in problem.help.iter().flat_map(|help| help.lines()) {
        text.push('\n');
        text.push_str(&text_of(&harmless(line)));
    }
    text
}

/// The part of the text around the finding, with `..` where it was cut, and the finding's column in it.
fn window(shown: &[char], position: usize, columns: usize) -> (String, usize) {
    let cut = position.saturating_sub(FARTHEST);
    let mut part: Vec<char> = shown.iter().copied().skip(cut).collect();
    if cut > 0 {
        part.iter_mut().take(2).for_each(|char| *char = '.');
    }
    let room = columns.saturating_sub(HEADLINE.len() + 1).max(FARTHEST + 2);
    if part.len() > room {
        part.truncate(room);
        part.iter_mut().rev().take(2).for_each(|char| *char = '.');
    }
    (text_of(&part), position - cut)
}

/// One printable character for each byte, so that positions hold.
fn harmless(text: &str) -> Vec<char> {
    let printable = |byte: u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t');
    text.bytes()
        .map(|byte| if printable(byte) { byte as char } else { '?' })
        .collect()
}

fn text_of(chars: &[char]) -> String {
    chars.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, position: usize) -> String {
        SyntaxError::new(text, vec![SyntaxProblem::new(position, "why")]).to_string()
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(
            render("cpu-clock:pppp", 13),
            "event syntax error: 'cpu-clock:pppp'\n                                  \\___ why"
        );
    }

    #[test]
    fn the_finding_stays_near_the_start() {
        assert_eq!(
            render("sched:sched_switch/period=5/", 19),
            "event syntax error: '..hed_switch/period=5/'\n                                  \\___ why"
        );
    }

    #[test]
    fn a_long_text_is_cut_at_the_end() {
        let text =
            "nosuchevent_with_a_really_quite_long_name_here_yes_and_it_is_even_longer_than_that";
        let first = render(text, 0);
        assert!(first.starts_with(
            "event syntax error: 'nosuchevent_with_a_really_quite_long_name_here_yes_and_i..'\n"
        ));
    }

    #[test]
    fn control_characters_do_not_pass() {
        assert!(render("a\u{1b}[2Jb", 0).starts_with("event syntax error: 'a?[2Jb'"));
        assert!(render("", 99).contains("why"));
    }

    #[test]
    fn help_follows_its_finding() {
        let problem = SyntaxProblem::new(0, "Bad event name")
            .with_help("Unable to find event on a PMU of 'x'");
        let text = SyntaxError::new("x", vec![problem]).render(80);
        assert!(text.ends_with("\\___ Bad event name\nUnable to find event on a PMU of 'x'"));
    }
}
