//! `data`: what is done with recordings as files.

mod check;
mod convert;

use clap::{ArgMatches, Command};

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::print_error;

/// What can be done.
const ALL: [Entry; 2] = [
    Entry {
        name: "convert",
        command: convert::command,
        run: convert::run,
    },
    Entry {
        name: "check",
        command: check::command,
        run: check::run,
    },
];

/// The options.
pub(crate) fn command() -> Command {
    let subcommand = |entry: Entry| {
        (entry.command)()
            .infer_long_args(true)
            .args_override_self(true)
    };
    Command::new("data")
        .about("Convert and check recordings")
        .disable_help_subcommand(true)
        // Unknown ones are refused here, by perf's exit code.
        .allow_external_subcommands(true)
        .subcommands(ALL.map(subcommand))
}

/// Runs `data`.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        print_error(
            &command()
                .bin_name(format!("{program} data"))
                .render_help()
                .to_string(),
        );
        return Ok(code::BAD_OPTION);
    };
    match ALL.into_iter().find(|entry| entry.name == name) {
        Some(entry) => (entry.run)(matches, program),
        None => Err(Failure::bad_option(format!("Unknown command: {name}"))),
    }
}
