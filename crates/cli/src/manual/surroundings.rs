//! Files, variables and exit codes of a command: those of the groups of options that it has.

use clap::Command;

/// A name and what it stands for.
pub(super) type Row = (&'static str, &'static str);

/// When a row holds for a command.
#[derive(Clone, Copy)]
enum Where {
    /// Everywhere.
    Always,
    /// Where the command has this option.
    Option(&'static str),
}

impl Where {
    fn holds(self, command: &Command) -> bool {
        match self {
            Where::Always => true,
            Where::Option(name) => command
                .get_arguments()
                .any(|argument| argument.get_id() == name),
        }
    }
}

const FILES: &[(Where, Row)] = &[
    (
        Where::Option("input"),
        (
            "perf.data",
            "The recording that is read where -i names no other.",
        ),
    ),
    (
        Where::Option("buildid-all"),
        (
            "perf.data",
            "The recording; one that was there before becomes perf.data.old.",
        ),
    ),
    (
        Where::Always,
        (
            "~/.debug",
            "The cache of binaries by build id, which perf uses, too.",
        ),
    ),
    (
        Where::Always,
        (
            "~/.perfconfig, /etc/perfconfig",
            "The settings of the user and of the system, as perf has them.",
        ),
    ),
    (
        Where::Option("symfs"),
        (
            "~/.cache/oxperf",
            "Facts about binaries that were found out before. It may be removed at any time.",
        ),
    ),
    (
        Where::Option("debuginfod"),
        (
            "~/.cache/debuginfod_client",
            "What debuginfod servers sent.",
        ),
    ),
    (
        Where::Option("kallsyms"),
        (
            "/tmp/perf-PID.map",
            "Names of code that a process made at run time.",
        ),
    ),
];

const VARIABLES: &[(Where, Row)] = &[
    (
        Where::Always,
        (
            "PERF_CONFIG",
            "A file with settings, read in the place of ~/.perfconfig and /etc/perfconfig.",
        ),
    ),
    (
        Where::Option("debuginfod"),
        (
            "DEBUGINFOD_URLS",
            "The servers that --debuginfod asks, separated by blanks.",
        ),
    ),
    (
        Where::Option("debuginfod"),
        (
            "DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE",
            "The folder for what they send, and limits: seconds without progress, seconds for a file, bytes of a file.",
        ),
    ),
    (
        Where::Option("debuginfod"),
        (
            "SSL_CERT_FILE",
            "The authorities that servers' certificates are checked against.",
        ),
    ),
    (
        Where::Option("push"),
        (
            "OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES",
            "The service that samples are of, and other attributes of theirs (KEY=VALUE,KEY=VALUE), for --format otlp.",
        ),
    ),
    (
        Where::Option("push"),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "Headers that the receiver wants to see (NAME=VALUE,NAME=VALUE), such as Authorization.",
        ),
    ),
    (
        Where::Option("symfs"),
        (
            "XDG_CACHE_HOME",
            "The folder of caches, ~/.cache if it is not set.",
        ),
    ),
    (
        Where::Option("stdio"),
        ("NO_COLOR", "Text has no colours if this is set."),
    ),
    (
        Where::Option("stdio"),
        (
            "TERM",
            "The terminal; a dumb one gets text in the place of the browser.",
        ),
    ),
];

const EXIT_CODES: &[(Where, Row)] = &[
    (
        Where::Always,
        (
            "0",
            "Done. record and profile end with the status of the program that they ran instead.",
        ),
    ),
    (
        Where::Always,
        ("129", "An option or an event is not understood."),
    ),
    (
        Where::Option("time"),
        (
            "234",
            "The value of an option makes no sense for the recording.",
        ),
    ),
    (
        Where::Always,
        (
            "244, 245",
            "There is no memory left, or threads cannot be started.",
        ),
    ),
    (
        Where::Option("switch-on"),
        (
            "254",
            "An option names something that the recording does not have.",
        ),
    ),
    (
        Where::Always,
        ("255", "The work could not be done; one message says why."),
    ),
];

/// Files that the command reads or writes.
pub(super) fn files(command: &Command) -> Vec<Row> {
    rows(FILES, command)
}

/// Variables of the environment that count for the command.
pub(super) fn variables(command: &Command) -> Vec<Row> {
    rows(VARIABLES, command)
}

/// Exit codes and their meanings.
pub(super) fn exit_codes(command: &Command) -> Vec<Row> {
    rows(EXIT_CODES, command)
}

fn rows(table: &[(Where, Row)], command: &Command) -> Vec<Row> {
    let rows = table.iter().filter(|(place, _)| place.holds(command));
    rows.map(|&(_, row)| row).collect()
}
