//! The files of guests of the recorded machine.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_query::GuestOptions;

use super::{file, flag};

/// The options.
pub(crate) fn arguments() -> [Arg; 5] {
    let file = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    [
        file(
            "guestmount",
            "directory",
            "The files of guests: a folder for each, named by the process that runs it",
        ),
        file(
            "guestvmlinux",
            "file",
            "Names and code of the kernel of other guests from this image",
        ),
        file(
            "guestkallsyms",
            "file",
            "Names of their kernel from this copy of its /proc/kallsyms, code from the kcore beside it",
        ),
        file(
            "guestmodules",
            "file",
            "Modules of their kernel from this copy of its /proc/modules",
        ),
        Arg::new("guest-code")
            .long("guest-code")
            .action(ArgAction::SetTrue)
            .help("The code of guests is in the process that runs them"),
    ]
}

/// The files that were given; none of a command without these options.
pub(crate) fn options(matches: &ArgMatches) -> GuestOptions {
    GuestOptions {
        mounted: file(matches, "guestmount"),
        vmlinux: file(matches, "guestvmlinux"),
        kallsyms: file(matches, "guestkallsyms"),
        modules: file(matches, "guestmodules"),
        code_in_host: flag(matches, "guest-code"),
    }
}
