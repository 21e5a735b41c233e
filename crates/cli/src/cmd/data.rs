//! `data`: what is done with recordings as files.

mod check;
mod convert;

use clap::Command;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::print_error;

/// The subcommands, in the order of the help.
const ALL: [Entry; 2] = [convert::ENTRY, check::ENTRY];

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "data",
    command,
    run: |matches, invocation| match matches.subcommand() {
        Some((name, matches)) => match ALL.into_iter().find(|entry| entry.name == name) {
            Some(entry) => (entry.run)(matches, invocation),
            None => Err(Failure::bad_option(format!("Unknown command: {name}"))),
        },
        None => Ok(refuse(&invocation.program)),
    },
    shares_work: true,
};

/// The options.
fn command() -> Command {
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

/// Shows the help where no subcommand is named.
fn refuse(program: &str) -> i32 {
    let mut help = command().bin_name(format!("{program} data"));
    print_error(&help.render_help().to_string());
    code::BAD_OPTION
}
