//! `help [COMMAND]`: the manual of a command, or the list of all.

mod arguments;

use crate::app;
use crate::cmd::Entry;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "help",
    command: arguments::command,
    run: |matches, invocation| app::help(invocation, &arguments::words(matches)),
    shares_work: false,
};
