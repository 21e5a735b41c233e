//! What the words of the command line ask for.

use crate::{CountableEvent, ListedMetric};
use oxperf_abi::EventType;
use oxperf_pmu::glob;

/// Options that hold for all words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListOptions {
    /// A pattern of PMUs: only their events.
    pub unit: Option<String>,
    /// The pattern comes from a type of cores, so metrics are listed as without it.
    pub unit_is_core_type: bool,
    /// Old names, too, and generic events that this machine does not count.
    pub deprecated: bool,
}

/// A part of a list, in the order of the words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListSection {
    /// Events of PMUs, tracepoints among them.
    Events(EventFilter),
    /// Markers in programs.
    Sdt(EventFilter),
    /// The forms of names: raw descriptors and breakpoints.
    Forms(EventFilter),
    /// Metrics.
    Metrics(MetricFilter),
}

impl ListSection {
    /// The filter of a section of events of PMUs.
    pub(crate) fn events(&self) -> Option<&EventFilter> {
        match self {
            ListSection::Events(filter) => Some(filter),
            _ => None,
        }
    }
}

/// The events that a section shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventFilter {
    /// A pattern of PMUs.
    unit: Option<String>,
    /// A pattern that the name, the alias or the topic matches.
    pattern: Option<String>,
    /// Deprecated events, too.
    deprecated: bool,
    /// No events of the kernel's fixed types but those of the CPU.
    without_fixed_types: bool,
}

impl EventFilter {
    /// Returns whether an event is shown.
    pub fn admits(&self, event: &CountableEvent) -> bool {
        (self.deprecated || !event.is_deprecated)
            && self.admits_unit(event)
            && !(self.without_fixed_types && is_of_fixed_type(event))
            && self
                .pattern
                .as_deref()
                .is_none_or(|pattern| names(pattern, event))
    }

    fn admits_unit(&self, event: &CountableEvent) -> bool {
        let Some(pattern) = &self.unit else {
            return true;
        };
        event
            .unit
            .as_deref()
            .is_some_and(|unit| glob::matches(pattern, unit))
    }
}

/// Returns whether a pattern matches a name of the event, or its topic in any case.
fn names(pattern: &str, event: &CountableEvent) -> bool {
    let alias = event.alias.as_deref();
    glob::matches(pattern, &event.name)
        || alias.is_some_and(|alias| glob::matches(pattern, alias))
        || event.topic.as_deref().is_some_and(|topic| {
            glob::matches(&pattern.to_ascii_lowercase(), &topic.to_ascii_lowercase())
        })
}

fn is_of_fixed_type(event: &CountableEvent) -> bool {
    let is_fixed = |kind: EventType| kind.constant_name().is_some() && kind != EventType::RAW;
    event.pmu_kind.is_some_and(is_fixed)
}

/// The metrics that a section shows, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricFilter {
    /// A pattern that a name, or a group, matches.
    pattern: Option<String>,
    /// Groups are shown.
    pub groups: bool,
    /// Metrics are shown.
    pub metrics: bool,
}

impl MetricFilter {
    fn all(groups: bool, metrics: bool) -> MetricFilter {
        MetricFilter {
            pattern: None,
            groups,
            metrics,
        }
    }

    /// Returns whether a metric is shown.
    pub fn admits(&self, metric: &ListedMetric) -> bool {
        let Some(pattern) = &self.pattern else {
            return true;
        };
        self.metrics && glob::matches(pattern, &metric.name)
            || self.groups && glob::matches(pattern, &metric.group)
    }
}

/// The parts of the list that words ask for; everything without words.
pub fn sections(words: &[String], options: &ListOptions) -> Vec<ListSection> {
    if words.is_empty() {
        return everything(options);
    }
    let of_word = |word: &String| of_word(word, options);
    words.iter().flat_map(of_word).collect()
}

fn everything(options: &ListOptions) -> Vec<ListSection> {
    let filter = events(options, None);
    // A list of one PMU has no metrics; its heading stands there all the same, as in perf's.
    let metrics = options.unit.is_none() || options.unit_is_core_type;
    vec![
        ListSection::Events(filter.clone()),
        ListSection::Forms(filter.clone()),
        ListSection::Sdt(filter),
        ListSection::Metrics(MetricFilter::all(metrics, metrics)),
    ]
}

fn of_word(word: &str, options: &ListOptions) -> Vec<ListSection> {
    let of_topic = |topic: &str| ListSection::Events(events(options, Some(topic)));
    match word {
        "tracepoint" => vec![ListSection::Events(tracepoints(options, None))],
        "hw" | "hardware" => vec![of_topic("legacy hardware")],
        "sw" | "software" => vec![of_topic("software"), of_topic("tool")],
        "cache" | "hwcache" => vec![of_topic("legacy cache")],
        "tool" => vec![of_topic("tool")],
        "hwmon" => vec![of_topic("hwmon")],
        "pmu" => vec![ListSection::Events(EventFilter {
            without_fixed_types: true,
            ..events(options, None)
        })],
        "sdt" => vec![ListSection::Sdt(events(options, None))],
        "metric" | "metrics" => vec![ListSection::Metrics(MetricFilter::all(false, true))],
        "metricgroup" | "metricgroups" => {
            vec![ListSection::Metrics(MetricFilter::all(true, false))]
        }
        _ if word.contains(':') => {
            let filter = tracepoints(options, Some(word));
            let sdt = events(options, Some(word));
            matching(ListSection::Events(filter), ListSection::Sdt(sdt), word)
        }
        _ => {
            let pattern = format!("*{word}*");
            let filter = events(options, Some(&pattern));
            matching(
                ListSection::Events(filter.clone()),
                ListSection::Sdt(filter),
                &pattern,
            )
        }
    }
}

/// The sections of a pattern.
fn matching(events: ListSection, sdt: ListSection, pattern: &str) -> Vec<ListSection> {
    let metrics = MetricFilter {
        pattern: Some(pattern.to_owned()),
        ..MetricFilter::all(true, true)
    };
    vec![events, sdt, ListSection::Metrics(metrics)]
}

fn events(options: &ListOptions, pattern: Option<&str>) -> EventFilter {
    EventFilter {
        unit: options.unit.clone(),
        pattern: pattern.map(str::to_owned),
        deprecated: options.deprecated,
        without_fixed_types: false,
    }
}

/// Tracepoints are the events of a PMU of their own.
fn tracepoints(options: &ListOptions, pattern: Option<&str>) -> EventFilter {
    EventFilter {
        unit: Some("tracepoint".to_owned()),
        ..events(options, pattern)
    }
}

#[cfg(test)]
mod tests;
