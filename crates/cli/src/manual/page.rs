//! A page of the manual as values.

use clap::Command;

use super::handbook;
use super::markdown::Block;
use super::options::{OptionGroup, groups, words};
use super::surroundings::{self, Row};

/// A page: of the program, of one of its commands, or of a topic.
pub(crate) struct Page {
    /// The program and the words of the command: `oxperf`, `data`, `convert`.
    pub(crate) words: Vec<String>,
    /// One line about it.
    pub(crate) summary: String,
    /// Command lines by their forms; a topic has none.
    pub(crate) synopsis: Vec<String>,
    /// What it is for.
    pub(crate) description: Vec<Block>,
    /// Commands below it: their words, and a line about each.
    pub(crate) commands: Vec<(String, String)>,
    /// Words of the command line that are no options.
    pub(crate) arguments: Vec<(String, String)>,
    /// Options.
    pub(crate) groups: Vec<OptionGroup>,
    /// Command lines to begin with.
    pub(crate) examples: Vec<String>,
    /// Details.
    pub(crate) notes: Vec<Block>,
    /// Exit codes and their meanings.
    pub(crate) exit_codes: Vec<Row>,
    /// Files that are read or written.
    pub(crate) files: Vec<Row>,
    /// Variables of the environment.
    pub(crate) variables: Vec<Row>,
    /// Names of the other pages.
    pub(crate) related: Vec<String>,
}

impl Page {
    /// The page's name: `oxperf-data-convert`.
    pub(crate) fn name(&self) -> String {
        self.words.join("-")
    }

    /// The page of a command, or of the whole program, named by all its words. The command has been built.
    fn of(command: &Command, words_of_command: &[String]) -> Page {
        let title = words_of_command[1..].join(" ");
        let section = handbook::section(match title.is_empty() {
            true => "What the reading commands read",
            false => &title,
        });
        let is_program = title.is_empty();
        let (description, notes) = match is_program {
            true => (Vec::new(), section.description),
            false => (section.description, section.notes),
        };
        let examples = match section.examples.is_empty() || is_program {
            true => examples_of_help(command),
            false => section.examples,
        };
        Page {
            words: words_of_command.to_vec(),
            summary: command
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default(),
            synopsis: synopsis(command, words_of_command),
            description,
            commands: visible(command)
                .map(|below| (below.get_name().to_owned(), about(below)))
                .collect(),
            arguments: words(command),
            groups: groups(command),
            examples,
            notes,
            exit_codes: surroundings::exit_codes(command),
            files: surroundings::files(command),
            variables: surroundings::variables(command),
            related: Vec::new(),
        }
    }

    /// The page of a topic: a section of the handbook that is no command's.
    fn of_topic(program: &str, name: &str, summary: &str, section: &str) -> Page {
        let section = handbook::section(section);
        Page {
            words: vec![program.to_owned(), name.to_owned()],
            summary: summary.to_owned(),
            synopsis: Vec::new(),
            description: section.description,
            commands: Vec::new(),
            arguments: Vec::new(),
            groups: Vec::new(),
            examples: section.examples,
            notes: section.notes,
            exit_codes: Vec::new(),
            files: Vec::new(),
            variables: Vec::new(),
            related: Vec::new(),
        }
    }
}

/// All pages of a program, given by its whole command line: its own, those of its commands and of the commands below
/// them, and those of topics. The command has been built.
pub(crate) fn pages(command: &Command) -> Vec<Page> {
    let program = command.get_name().to_owned();
    let mut pages = Vec::new();
    add_pages(command, vec![program.clone()], &mut pages);
    pages.push(Page::of_topic(
        &program,
        "intel-pt",
        "Intel Processor Trace in recordings, and the letters of --itrace",
        "Intel PT",
    ));
    let names: Vec<String> = pages.iter().map(Page::name).collect();
    for page in &mut pages {
        let own = page.name();
        page.related = names.iter().filter(|name| **name != own).cloned().collect();
    }
    pages
}

fn add_pages(command: &Command, words: Vec<String>, pages: &mut Vec<Page>) {
    pages.push(Page::of(command, &words));
    for below in visible(command) {
        let words = [&words[..], &[below.get_name().to_owned()]].concat();
        add_pages(below, words, pages);
    }
}

/// The commands below a command that are shown.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
}

fn about(command: &Command) -> String {
    let about = command.get_about();
    about.map(ToString::to_string).unwrap_or_default()
}

/// The forms of a command line, as its usage has them.
fn synopsis(command: &Command, words: &[String]) -> Vec<String> {
    let usage = command.clone().bin_name(words.join(" ")).render_usage();
    let usage = usage.to_string();
    let forms = usage.trim_start_matches("Usage:").lines().map(str::trim);
    forms
        .filter(|form| !form.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The lines of examples at the end of a command's help.
fn examples_of_help(command: &Command) -> Vec<String> {
    let Some(text) = command.get_after_help().map(ToString::to_string) else {
        return Vec::new();
    };
    let lines = text.lines().filter_map(|line| line.strip_prefix("  "));
    lines.map(str::to_owned).collect()
}
