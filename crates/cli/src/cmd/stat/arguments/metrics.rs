//! The options about metrics.

use clap::{Arg, ArgAction, ArgMatches};

use super::super::metrics::MetricWishes;
use super::{flag, value};

/// The options.
pub(super) fn arguments() -> [Arg; 5] {
    [
        value("metrics", "metric/metric group list")
            .short('M')
            .action(ArgAction::Append)
            .help("Metrics and groups of metrics to count, comma separated: insn_per_cycle, TopdownL1; modifiers after a colon"),
        flag("detailed")
            .short('d')
            .action(ArgAction::Count)
            .help("One more group of default metrics; up to three times"),
        flag("metric-no-group").help("Do not open the events of a metric as a group"),
        flag("metric-no-merge").help("Do not share events between metrics"),
        flag("metric-no-threshold").help("Do not count what only the thresholds of metrics need"),
    ]
}

/// The values of the options.
pub(super) fn wishes(matches: &ArgMatches) -> MetricWishes {
    let lists = matches.get_many::<String>("metrics");
    let lists: Vec<String> = lists.into_iter().flatten().cloned().collect();
    MetricWishes {
        list: (!lists.is_empty()).then(|| lists.join(",")),
        details: matches.get_count("detailed"),
        no_group: matches.get_flag("metric-no-group"),
        no_merge: matches.get_flag("metric-no-merge"),
        no_threshold: matches.get_flag("metric-no-threshold"),
    }
}
