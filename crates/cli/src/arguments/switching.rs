//! `--switch-on`, `--switch-off`: events between which samples count.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_query::SwitchOptions;

use super::{flag, text};

/// The options.
pub(crate) fn arguments() -> [Arg; 3] {
    let event = |name: &'static str, help| Arg::new(name).long(name).value_name("event").help(help);
    [
        event("switch-on", "Show nothing before a sample of this event"),
        event(
            "switch-off",
            "Show nothing from a sample of this event on, until it is switched on again",
        ),
        Arg::new("show-on-off-events")
            .long("show-on-off-events")
            .action(ArgAction::SetTrue)
            .help("Show the samples that switch, too"),
    ]
}

/// The events that were given; none of a command without these options.
pub(crate) fn options(matches: &ArgMatches) -> SwitchOptions {
    let event = |name| text(matches, name).map(str::to_owned);
    SwitchOptions {
        on: event("switch-on"),
        off: event("switch-off"),
        shows_switches: flag(matches, "show-on-off-events"),
    }
}
