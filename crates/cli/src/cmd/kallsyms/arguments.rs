//! The options of `kallsyms`.

use clap::{Arg, ArgAction, ArgMatches, Command};

/// The options.
pub(super) fn command() -> Command {
    Command::new("kallsyms")
        .about("Show where the running kernel has symbols")
        .args([
            Arg::new("verbose")
                .long("verbose")
                .short('v')
                .action(ArgAction::Count)
                .help("Taken as in perf; there is no more to show"),
            Arg::new("names").num_args(0..),
        ])
}

/// The names that are looked for.
pub(super) fn names(matches: &ArgMatches) -> Vec<String> {
    let names = matches.get_many::<String>("names").unwrap_or_default();
    names.cloned().collect()
}
