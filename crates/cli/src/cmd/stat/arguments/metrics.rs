//! The options about metrics.

use clap::{Arg, ArgAction, ArgMatches};

use super::super::metrics::MetricWishes;
use super::super::presets::Preset;
use super::super::problem::StatProblem;
use super::number;
use crate::arguments::kinds::{switch, value};
use crate::arguments::text;

/// The options.
pub(super) fn arguments() -> [Arg; 13] {
    [
        value("metrics", "metric/metric group list")
            .short('M')
            .action(ArgAction::Append)
            .help("Metrics and groups of metrics to count, comma separated: insn_per_cycle, TopdownL1; modifiers after a colon"),
        switch("detailed")
            .short('d')
            .action(ArgAction::Count)
            .help("One more group of default metrics; up to three times"),
        switch("metric-only").help("Show metrics alone, a column each"),
        switch("metric-no-group").help("Do not open the events of a metric as a group"),
        switch("metric-no-merge").help("Do not share events between metrics"),
        switch("metric-no-threshold").help("Do not count what only the thresholds of metrics need"),
        switch("topdown").help("A level of the top-down method: where the slots of a core went"),
        value("td-level", "n").help("The level of --topdown [default: 1]"),
        switch("transaction")
            .short('T')
            .help("Metrics of hardware transactions"),
        switch("smi-cost").help("The number of system management interrupts and the cycles that they take"),
        value("cputype", "hybrid cpu type")
            .help("Of several kinds of cores this one alone, such as core or atom"),
        value("pmu-filter", "pmu").help("Events of this PMU alone"),
        switch("hybrid-merge").help("Add up the counts of several kinds of cores"),
    ]
}

/// The values of the options.
///
/// # Errors
/// A level that is no number.
pub(super) fn wishes(matches: &ArgMatches) -> Result<MetricWishes, StatProblem> {
    let preset = preset(matches)?;
    let text = |name: &str| text(matches, name).map(str::to_owned);
    let lists = matches.get_many::<String>("metrics");
    let lists: Vec<String> = lists.into_iter().flatten().cloned().collect();
    Ok(MetricWishes {
        list: (!lists.is_empty()).then(|| lists.join(",")),
        details: matches.get_count("detailed"),
        no_group: matches.get_flag("metric-no-group"),
        no_merge: matches.get_flag("metric-no-merge"),
        no_threshold: matches.get_flag("metric-no-threshold"),
        alone: matches.get_flag("metric-only") || preset.is_some_and(Preset::is_alone),
        preset,
        core_type: text("cputype"),
        pmu: text("pmu-filter"),
        merges_cores: matches.get_flag("hybrid-merge"),
    })
}

/// The metrics of an option of their own; perf looks at one of these options.
fn preset(matches: &ArgMatches) -> Result<Option<Preset>, StatProblem> {
    let level = number::<u32>(matches, "td-level")?.filter(|level| *level > 0);
    let given = [
        ("transaction", Preset::Transactions),
        ("smi-cost", Preset::SystemManagement),
        ("topdown", Preset::Topdown(level.unwrap_or(1))),
    ];
    let found = given.into_iter().find(|(name, _)| matches.get_flag(name));
    Ok(found.map(|(_, preset)| preset))
}
