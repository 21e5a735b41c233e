//! The words of `complete`.

use clap::{Arg, ArgMatches, Command};

/// The words.
pub(super) fn command() -> Command {
    Command::new("complete")
        .hide(true)
        .about("Answer a shell that completes a command line")
        .arg(
            Arg::new("words")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .help("The words behind the program's name, behind --; the last is the one to complete"),
        )
}

/// The words as they are.
pub(super) fn words(matches: &ArgMatches) -> Vec<String> {
    let words = matches.get_many::<String>("words");
    words.into_iter().flatten().cloned().collect()
}
