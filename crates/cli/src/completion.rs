//! What may follow on a command line: words, files or programs, from the definitions of commands and options.
//!
//! The scripts for shells know no option: they ask the program, so that they never differ from it.

mod line;
mod names;
mod values;

use std::fmt;

use clap::Command;

use line::{Line, Place};

/// What may stand at the end of a command line.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// One of these words.
    Words(Vec<Candidate>),
    /// The name of a file, behind these letters of the word.
    Files(String),
    /// The name of a folder, behind these letters of the word.
    Folders(String),
    /// A program.
    Programs,
    /// A word of the line of a program, which begins with this word of the line (the program's own name is word 0).
    Workload(usize),
}

/// A word that may stand there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// The whole word.
    pub(crate) text: String,
    /// What it means, on one line.
    pub(crate) about: String,
}

impl Candidate {
    /// A word.
    fn new(text: impl Into<String>, about: impl Into<String>) -> Candidate {
        Candidate {
            text: text.into(),
            about: about.into(),
        }
    }
}

/// The form in which the shells' scripts read it.
impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Words(words) => {
                writeln!(f, ":words\t")?;
                for word in words {
                    // Names of this machine's events and processes are not ours.
                    let plain = |text: &str| text.replace(char::is_control, " ");
                    writeln!(f, "{}\t{}", plain(&word.text), plain(&word.about))?;
                }
                Ok(())
            }
            Answer::Files(before) => writeln!(f, ":files\t{before}"),
            Answer::Folders(before) => writeln!(f, ":folders\t{before}"),
            Answer::Programs => writeln!(f, ":programs\t"),
            Answer::Workload(word) => writeln!(f, ":workload\t{word}"),
        }
    }
}

/// Says what may stand in the place of the last word. `root` is the whole command line, built; `words` are those behind
/// the program's name.
pub(crate) fn answer(root: &Command, words: &[String]) -> Answer {
    let (current, before) = match words.split_last() {
        Some((current, before)) => (current.as_str(), before),
        None => ("", words),
    };
    let line = Line::read(root, before);
    match line.place {
        Place::Workload(word) => Answer::Workload(word + 1),
        Place::Value(option) => values::of(option, line.command, "", current),
        Place::Word { options_ended } if current.starts_with('-') && !options_ended => {
            option(line.command, current)
        }
        Place::Word { .. } => word(&line, current),
    }
}

/// An option, or the value behind its `=`.
fn option(command: &Command, current: &str) -> Answer {
    if let Some((name, value)) = current.split_once('=') {
        let option = line::long_option(command, name.trim_start_matches('-'));
        return match option {
            Some(option) => values::of(option, command, &format!("{name}="), value),
            None => Answer::Words(Vec::new()),
        };
    }
    let words = match command.get_name() {
        "oxperf" => names::global_options(),
        _ => names::options(command, current.starts_with("--no-")),
    };
    Answer::Words(beginning_with(words, current))
}

/// A command, or a word that is no option.
fn word(line: &Line<'_>, current: &str) -> Answer {
    if line.command.has_subcommands() && line.positionals == 0 {
        return Answer::Words(beginning_with(names::commands(line.command), current));
    }
    let positionals: Vec<_> = line.command.get_positionals().collect();
    match positionals.get(line.positionals).or(positionals.last()) {
        Some(argument) if argument.is_trailing_var_arg_set() => Answer::Programs,
        Some(argument) => values::of(argument, line.command, "", current),
        None => Answer::Files(String::new()),
    }
}

fn beginning_with(mut words: Vec<Candidate>, current: &str) -> Vec<Candidate> {
    words.retain(|word| word.text.starts_with(current));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::whole_command;

    fn ask(words: &[&str]) -> Answer {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        answer(&whole_command("oxperf"), &words)
    }

    fn texts(words: &[&str]) -> Vec<String> {
        match ask(words) {
            Answer::Words(words) => words.into_iter().map(|word| word.text).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commands_are_completed_but_not_those_of_the_program_itself() {
        assert_eq!(texts(&["buildid-"]), ["buildid-cache", "buildid-list"]);
        assert_eq!(texts(&["data", ""]), ["convert", "check"]);
        assert_eq!(texts(&["dlfilter"]), Vec::<String>::new());
    }

    #[test]
    fn options_are_those_of_the_command() {
        assert_eq!(texts(&["evlist", "--tr"]), ["--trace-fields"]);
        assert_eq!(texts(&["evlist", "--no-tr"]), ["--no-trace-fields"]);
        assert!(texts(&["record", "-"]).contains(&"-F".to_owned()));
        assert!(texts(&["evlist", "--wrong=a"]).is_empty());
    }

    #[test]
    fn values_are_completed_behind_a_blank_and_behind_an_equals_sign() {
        assert_eq!(texts(&["export", "--format", "per"]), ["perfetto"]);
        assert_eq!(texts(&["export", "--format=per"]), ["--format=perfetto"]);
        assert_eq!(texts(&["report", "-s", "comm,dso_f"]), ["comm,dso_from"]);
        assert_eq!(
            texts(&["record", "-e", "cpu-clock,task-c"]),
            ["cpu-clock,task-clock"]
        );
        assert_eq!(
            texts(&["script", "-F", "+brstackinsnl"]),
            ["+brstackinsnlen"]
        );
    }

    #[test]
    fn files_are_left_to_the_shell() {
        assert_eq!(ask(&["report", "-i", "pe"]), Answer::Files(String::new()));
        assert_eq!(
            ask(&["report", "--input=pe"]),
            Answer::Files("--input=".to_owned())
        );
        assert_eq!(
            ask(&["report", "--symfs", ""]),
            Answer::Folders(String::new())
        );
    }

    #[test]
    fn a_workload_is_a_line_of_its_own() {
        assert_eq!(ask(&["record", "-g", "--", "ca"]), Answer::Programs);
        assert_eq!(
            ask(&["record", "-F", "99", "-g", "cat", "-"]),
            Answer::Workload(5)
        );
        assert_eq!(ask(&["record", "--", "cat", "x"]), Answer::Workload(3));
    }

    #[test]
    fn names_cannot_break_a_line() {
        let answer = Answer::Words(vec![Candidate::new("a\nb", "c\td")]);
        assert_eq!(answer.to_string(), ":words\t\na b\tc d\n");
    }
}
