//! Names of commands and options, with what they mean.

use clap::{Arg, Command};

use super::Candidate;
use crate::globals;

/// The commands below a command.
pub(super) fn commands(command: &Command) -> Vec<Candidate> {
    let shown = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set());
    shown
        .map(|below| {
            let about = below.get_about().map(ToString::to_string);
            Candidate::new(below.get_name(), about.unwrap_or_default())
        })
        .collect()
}

/// The options before the command.
pub(super) fn global_options() -> Vec<Candidate> {
    let names = globals::LONG_OPTIONS.iter();
    names.map(|name| Candidate::new(*name, "")).collect()
}

/// The options of a command, or the words that take its switches back.
pub(super) fn options(command: &Command, negated: bool) -> Vec<Candidate> {
    let shown = command
        .get_arguments()
        .filter(|option| !option.is_positional() && !option.is_hide_set());
    shown
        .flat_map(|option| match negated {
            true => negations(option),
            false => forms(option),
        })
        .collect()
}

fn forms(option: &Arg) -> Vec<Candidate> {
    let short = option.get_short().map(|letter| format!("-{letter}"));
    let longs = option.get_long_and_visible_aliases().unwrap_or_default();
    let longs = longs.into_iter().map(|long| format!("--{long}"));
    let forms = longs.chain(short);
    forms
        .map(|form| Candidate::new(form, about(option)))
        .collect()
}

fn negations(option: &Arg) -> Vec<Candidate> {
    let Some(long) = option.get_long() else {
        return Vec::new();
    };
    let form = match long.starts_with("no-") {
        true => format!("--{long}"),
        false => format!("--no-{long}"),
    };
    vec![Candidate::new(form, about(option))]
}

/// The first clause of an option's description: a list of candidates has no room for more.
fn about(option: &Arg) -> String {
    let help = option
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let end = help.find([':', ';', '[']).unwrap_or(help.len());
    help[..end].trim().to_owned()
}
