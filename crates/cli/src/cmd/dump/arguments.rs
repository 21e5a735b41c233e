//! `-D`: the options that show records.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_query::RecordOrder;

use crate::arguments::flag;

/// The options of commands that take the order of the file beside `-D`.
pub(crate) fn arguments() -> [Arg; 2] {
    [
        in_order_of_time(),
        Arg::new(DISABLE_ORDER)
            .long(DISABLE_ORDER)
            .action(ArgAction::SetTrue)
            .help("With -D: records in the order of the file, not of time"),
    ]
}

/// The options of `script`, which has one for each order.
pub(crate) fn script_arguments() -> [Arg; 2] {
    [
        in_order_of_time(),
        Arg::new(UNSORTED)
            .long(UNSORTED)
            .action(ArgAction::SetTrue)
            .help("The same in the order of the file, not of time"),
    ]
}

const DISABLE_ORDER: &str = "disable-order";
/// Records in the order of the file.
const UNSORTED: &str = "dump-unsorted-raw-trace";

fn in_order_of_time() -> Arg {
    Arg::new("dump-raw-trace")
        .short('D')
        .long("dump-raw-trace")
        .action(ArgAction::SetTrue)
        .help("Show every record as bytes and in words")
}

/// `true` if records are to be shown.
pub(crate) fn is_asked(matches: &ArgMatches) -> bool {
    flag(matches, "dump-raw-trace") || flag(matches, UNSORTED)
}

fn is_in_file_order(matches: &ArgMatches) -> bool {
    flag(matches, DISABLE_ORDER) || flag(matches, UNSORTED)
}

/// The order that the options ask for.
pub(crate) fn order(matches: &ArgMatches) -> RecordOrder {
    if is_in_file_order(matches) {
        RecordOrder::File
    } else {
        RecordOrder::Time
    }
}
