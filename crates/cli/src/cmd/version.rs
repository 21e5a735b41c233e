//! `version`: the version of this program, and the features that it has.

mod arguments;

use crate::cmd::Entry;
use crate::failure::code;
use crate::features;
use crate::output::print_line;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "version",
    command: arguments::command,
    run: |matches, invocation| {
        print_line(&features::version(&invocation.program))?;
        if arguments::wants_features(matches) || invocation.globals.verbosity > 0 {
            print_line(features::all().trim_end())?;
        }
        Ok(code::SUCCESS)
    },
    shares_work: false,
};
