//! The options of `kvm`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_capture::{GuestFiles, RecordedSides};

use super::KvmCommand;
use crate::arguments::kinds::{switch, value};
use crate::arguments::{Invocation, guests};
use crate::failure::{Failure, code};
use crate::output::print_error;
use crate::usage;

/// The options. Behind them stands another command with its own.
pub(super) fn command() -> Command {
    Command::new("kvm")
        .about("Record guests of this machine, and show such recordings")
        .args_override_self(true)
        .args([
            file("input", 'i').help("File to read, for report and buildid-list"),
            file("output", 'o').help("File to write, for record [default: perf.data.guest; perf.data.kvm with --host, perf.data.host with --host --no-guest]"),
            switch("host").help("Record the host as well as its guests"),
            switch("guest")
                .overrides_with("no-guest")
                .help("Record guests [default]"),
            switch("no-guest")
                .overrides_with("guest")
                .help("Record no guests; with --host"),
        ])
        .args(guests::arguments())
        .arg(
            switch("verbose")
                .short('v')
                .action(ArgAction::Count)
                .help("Also print what is opened"),
        )
        .arg(
            Arg::new("command")
                .value_name("command")
                .num_args(1..)
                .trailing_var_arg(true)
                .value_parser(value_parser!(OsString))
                .help("What to do: record, report, diff or buildid-list, with options of its own"),
        )
}

fn file(name: &'static str, letter: char) -> Arg {
    value(name, "file")
        .short(letter)
        .value_parser(value_parser!(PathBuf))
}

/// Runs the command about guests that the words name.
pub(super) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    let outcome = options(matches).run(invocation);
    outcome.unwrap_or_else(|| {
        let (command, path) = (command(), [super::ENTRY.name.to_owned()]);
        let forms = usage::forms(&command, &invocation.program, &path);
        print_error(&usage::text(&command, &forms, &[]));
        Ok(code::BAD_OPTION)
    })
}

fn options(matches: &ArgMatches) -> KvmCommand {
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let guests = guests::options(matches);
    let words = matches.get_many::<OsString>("command").unwrap_or_default();
    KvmCommand {
        // perf has one name for both.
        file: file("output").or_else(|| file("input")),
        sides: sides(matches),
        files: GuestFiles {
            mounted: guests.mounted,
            kallsyms: guests.kallsyms,
            modules: guests.modules,
            vmlinux: guests.vmlinux,
        },
        code_in_host: guests.code_in_host,
        verbosity: matches.get_count("verbose"),
        words: words.cloned().collect(),
    }
}

/// Guests are always recorded, but where the host alone is asked for.
fn sides(matches: &ArgMatches) -> RecordedSides {
    match (matches.get_flag("host"), matches.get_flag("no-guest")) {
        (true, true) => RecordedSides::Host,
        (true, false) => RecordedSides::HostAndGuests,
        (false, _) => RecordedSides::Guests,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> KvmCommand {
        let words = ["kvm"].into_iter().chain(words.split(' '));
        options(&command().try_get_matches_from(words).unwrap())
    }

    #[test]
    fn guests_are_recorded_unless_the_host_alone_is_asked_for() {
        let sides = |words: &str| parsed(words).sides;
        assert_eq!(sides("record"), RecordedSides::Guests);
        assert_eq!(sides("--no-guest record"), RecordedSides::Guests);
        assert_eq!(sides("--host record"), RecordedSides::HostAndGuests);
        assert_eq!(sides("--host --no-guest record"), RecordedSides::Host);
        assert_eq!(
            sides("--no-guest --guest --host record"),
            RecordedSides::HostAndGuests
        );
    }

    #[test]
    fn options_behind_the_command_are_its_own() {
        let command = parsed("--guestmount=/g -i x record -a --guest");
        assert_eq!(command.words, ["record", "-a", "--guest"]);
        assert_eq!(command.files.mounted, Some("/g".into()));
        assert_eq!(command.file, Some("x".into()));
    }
}
