//! `data`: what is done with recordings as files.

mod check;
mod convert;

use clap::Command;

use crate::cmd::Entry;
use crate::failure::code;
use crate::output::print_error;
use crate::usage;

/// The subcommands, in the order of the help.
const ALL: [Entry; 2] = [convert::ENTRY, check::ENTRY];

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "data",
    command,
    run: |matches, invocation| match matches.subcommand() {
        Some((name, matches)) => match ALL.into_iter().find(|entry| entry.name == name) {
            Some(entry) => (entry.run)(matches, invocation),
            None => Ok(refuse(
                &format!("Unknown command: {name}\n"),
                &invocation.program,
            )),
        },
        None => Ok(refuse("", &invocation.program)),
    },
    shares_work: true,
};

/// The options.
fn command() -> Command {
    let subcommand = |entry: Entry| (entry.command)().args_override_self(true);
    Command::new("data")
        .about("Convert and check recordings")
        .disable_help_subcommand(true)
        // Unknown ones are refused here, by perf's exit code.
        .allow_external_subcommands(true)
        .subcommands(ALL.map(subcommand))
}

/// Shows the commands where none of them is named.
fn refuse(problem: &str, program: &str) -> i32 {
    let forms = ALL.map(|entry| format!("{program} data {} [<options>]", entry.name));
    print_error(&format!(
        "{problem}{}",
        usage::text(&command(), &forms, &[])
    ));
    code::BAD_OPTION
}
