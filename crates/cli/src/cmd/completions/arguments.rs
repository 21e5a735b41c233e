//! The options of `completions`.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};

use super::{CompletionsOptions, Shell};
use crate::arguments::text;

const EXAMPLES: &str = "\
Examples:
  source <(oxperf completions bash)                                          in ~/.bashrc
  oxperf completions zsh > ~/.zfunc/_oxperf                                  a folder of $fpath
  oxperf completions fish > ~/.config/fish/completions/oxperf.fish";

/// The options.
pub(super) fn command() -> Command {
    Command::new("completions")
        .about("Print the script with which a shell completes command lines")
        .after_help(EXAMPLES)
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .help("The name that the program is called by [default: the one of this call]"),
        )
        .arg(
            Arg::new("shell")
                .required(true)
                .value_name("SHELL")
                .value_parser(PossibleValuesParser::new(Shell::ALL.map(|(name, _)| name)))
                .help("bash, zsh or fish"),
        )
}

/// The options as values. A name stands in a script, so it has letters, digits and some signs only.
pub(super) fn options(matches: &ArgMatches, program: &str) -> CompletionsOptions {
    let asked = text(matches, "shell").unwrap_or_default();
    let shell = Shell::ALL.into_iter().find(|(name, _)| *name == asked);
    let name = text(matches, "name").unwrap_or(program);
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.+".contains(*letter);
    CompletionsOptions {
        shell: shell.map_or(Shell::Bash, |(_, shell)| shell),
        name: name.chars().filter(plain).collect(),
    }
}
