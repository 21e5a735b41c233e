//! The tables of one CPU.

use crate::builtin;
use crate::entry::{TableEvent, TableMetric};
use crate::store::Store;
use std::sync::OnceLock;

/// The events and metrics that tables know for one CPU. They come from several sources, the first of which wins where
/// two have an event, or a metric, with one name and PMU.
#[derive(Debug, Default)]
pub struct EventTables {
    sources: Vec<Source>,
}

/// One source, read when it is asked for the first time.
#[derive(Debug)]
struct Source {
    /// The paths of built-in tables.
    builtin: Vec<&'static str>,
    store: OnceLock<Store>,
}

impl Source {
    fn store(&self) -> &Store {
        self.store.get_or_init(|| builtin::unpack(&self.builtin))
    }
}

impl EventTables {
    /// The built-in tables of a CPU; `None` when there are none for it. The identification is perf's: on x86
    /// `GenuineIntel-6-5E-3` (vendor, family, model and stepping, the last two hexadecimal), on Arm the main id register as `0x` and 16
    /// digits.
    pub fn builtin(cpu_id: &str) -> Option<EventTables> {
        let builtin = builtin::paths(cpu_id);
        let store = OnceLock::new();
        let is_known = !builtin.is_empty();
        is_known.then(|| EventTables {
            sources: vec![Source { builtin, store }],
        })
    }

    /// Both tables; these win over `others`.
    #[must_use]
    pub fn over(mut self, others: EventTables) -> EventTables {
        self.sources.extend(others.sources);
        self
    }

    /// The event of this name, in any case, of a PMU as [`TableEvent::pmu`] has it.
    pub fn event(&self, pmu: &str, name: &str) -> Option<TableEvent<'_>> {
        let mut named = self.events_named(name).into_iter();
        named.find(|event| event.pmu == pmu)
    }

    /// The events of this name, in any case, of all PMUs.
    pub fn events_named(&self, name: &str) -> Vec<TableEvent<'_>> {
        let name = name.to_ascii_lowercase();
        let mut found: Vec<TableEvent<'_>> = Vec::new();
        for source in &self.sources {
            for event in source.store().events_named(&name) {
                if found.iter().all(|other| other.pmu != event.pmu) {
                    found.push(event);
                }
            }
        }
        found
    }

    /// All events.
    pub fn events(&self) -> impl Iterator<Item = TableEvent<'_>> {
        let sources = self.sources.iter().enumerate();
        sources.flat_map(move |(rank, source)| {
            let events = source.store().events();
            events.filter(move |event| !self.is_hidden_event(rank, event))
        })
    }

    /// All metrics.
    pub fn metrics(&self) -> impl Iterator<Item = TableMetric<'_>> {
        let sources = self.sources.iter().enumerate();
        sources.flat_map(move |(rank, source)| {
            let metrics = source.store().metrics();
            metrics.filter(move |metric| !self.is_hidden_metric(rank, metric))
        })
    }

    /// Returns whether a source before this one has the event.
    fn is_hidden_event(&self, rank: usize, event: &TableEvent<'_>) -> bool {
        let mut before = self.sources[..rank].iter();
        before.any(|source| {
            let mut same_name = source.store().events_named(event.name);
            same_name.any(|other| other.pmu == event.pmu)
        })
    }

    /// Returns whether a source before this one has the metric.
    fn is_hidden_metric(&self, rank: usize, metric: &TableMetric<'_>) -> bool {
        let mut before = self.sources[..rank].iter();
        before.any(|source| {
            let mut same_name = source.store().metrics_named(metric.name);
            same_name.any(|other| other.pmu == metric.pmu)
        })
    }
}
