//! The commands, one file each: what they are called, their options, and what runs them.

mod annotate;
mod archive;
mod buildid_cache;
mod buildid_list;
mod bundle;
pub(crate) mod bundle_keeper;
mod data;
mod diff;
mod dlfilter_helper;
mod dump;
mod evlist;
mod export;
mod profile;
mod record;
mod report;
mod script;
mod symbols;

use clap::{ArgMatches, Command};

use crate::failure::Failure;

/// One command.
pub(crate) struct Entry {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its options.
    pub(crate) command: fn() -> Command,
    /// Runs it; gives the exit code.
    pub(crate) run: fn(&ArgMatches, &str) -> Result<i32, Failure>,
}

/// All commands, in the order of the help.
pub(crate) const ALL: [Entry; 16] = [
    Entry {
        name: "profile",
        command: profile::command,
        run: profile::run,
    },
    Entry {
        name: "record",
        command: record::command,
        run: record::run,
    },
    Entry {
        name: "report",
        command: report::command,
        run: report::run,
    },
    Entry {
        name: "diff",
        command: diff::command,
        run: diff::run,
    },
    Entry {
        name: "annotate",
        command: annotate::command,
        run: annotate::run,
    },
    Entry {
        name: "script",
        command: script::command,
        run: script::run,
    },
    Entry {
        name: "export",
        command: export::command,
        run: export::run,
    },
    Entry {
        name: "evlist",
        command: evlist::command,
        run: evlist::run,
    },
    Entry {
        name: "buildid-cache",
        command: buildid_cache::command,
        run: buildid_cache::run,
    },
    Entry {
        name: "buildid-list",
        command: buildid_list::command,
        run: buildid_list::run,
    },
    Entry {
        name: "archive",
        command: archive::command,
        run: archive::run,
    },
    Entry {
        name: "bundle",
        command: bundle::command,
        run: bundle::run,
    },
    Entry {
        name: "symbols",
        command: symbols::command,
        run: symbols::run,
    },
    Entry {
        name: "data",
        command: data::command,
        run: data::run,
    },
    Entry {
        name: bundle_keeper::NAME,
        command: bundle_keeper::command,
        run: bundle_keeper::run,
    },
    Entry {
        name: dlfilter_helper::NAME,
        command: dlfilter_helper::command,
        run: dlfilter_helper::run,
    },
];

/// Whether a command has work for several threads.
pub(crate) fn shares_work(name: &str) -> bool {
    !["buildid-cache", bundle_keeper::NAME, dlfilter_helper::NAME].contains(&name)
}
