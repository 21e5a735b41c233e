//! `--time`, `--cpu`, `--comms`, `--pid`, `--tid`: the samples that count.

use clap::{Arg, ArgMatches};
use oxperf_query::FilterOptions;

use super::text;

/// The options.
pub(crate) fn arguments() -> [Arg; 5] {
    let list =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    [
        list(
            "time",
            "str",
            "Show samples of these seconds only; also 10%/2, 0%-10%, several",
        ),
        list("cpu", "cpu", "Show these CPUs only, such as 0,2-4").short('C'),
        list(
            "comms",
            "comm[,comm...]",
            "Show threads of these names only, comma separated or file://FILE",
        )
        .short('c'),
        list(
            "pid",
            "pid[,pid...]",
            "Show samples of these processes only",
        ),
        list("tid", "tid[,tid...]", "Show samples of these threads only"),
    ]
}

/// The lists that were given; none of a command without them.
pub(crate) fn options(matches: &ArgMatches) -> FilterOptions {
    let list = |name| text(matches, name).map(str::to_owned);
    FilterOptions {
        times: list("time"),
        cpus: list("cpu"),
        comms: list("comms"),
        pids: list("pid"),
        tids: list("tid"),
        part: None,
    }
}
