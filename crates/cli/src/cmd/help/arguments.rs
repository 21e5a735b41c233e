//! The options of `help`.

use clap::{Arg, ArgAction, ArgMatches, Command};

/// The options: perf's ways to show a manual. There is one here.
pub(super) fn command() -> Command {
    let way = |name: &'static str, letter, help| {
        Arg::new(name)
            .long(name)
            .short(letter)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("help")
        .about("Show the manual of a command")
        .args([
            way("all", 'a', "List the commands"),
            way("man", 'm', "Show the manual as text, as without an option"),
            way("web", 'w', "Taken as in perf; the manual is text"),
            way("info", 'i', "Taken as in perf; the manual is text"),
            Arg::new("words")
                .value_name("command")
                .num_args(0..)
                .help("The command"),
        ])
}

/// The command that the manual is about, and the one below it.
pub(super) fn words(matches: &ArgMatches) -> Vec<String> {
    let words = matches.get_many::<String>("words").unwrap_or_default();
    words.cloned().collect()
}
