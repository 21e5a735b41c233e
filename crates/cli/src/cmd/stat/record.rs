//! `stat record`: counts as `stat`, and writes them to a recording.

mod arguments;

use crate::cmd::Entry;

/// The command.
pub(super) const ENTRY: Entry = Entry {
    name: "record",
    command: arguments::command,
    run: arguments::run,
    shares_work: false,
};
