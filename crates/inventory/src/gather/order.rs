//! perf's order of events.

use super::Gathered;
use crate::CountableEvent;
use std::cmp::Ordering;

/// The events in perf's order, each name of a PMU once.
pub(crate) fn in_order(mut gathered: Vec<Gathered>) -> Vec<CountableEvent> {
    gathered.sort_by(compare);
    gathered.dedup_by(|later, first| {
        later.event.name == first.event.name && later.event.unit == first.event.unit
    });
    gathered
        .into_iter()
        .map(|gathered| gathered.event)
        .collect()
}

/// First those without description, then by topic, the cores' PMUs first, then by PMU and name.
fn compare(one: &Gathered, other: &Gathered) -> Ordering {
    fn topic(gathered: &Gathered) -> &str {
        gathered.event.topic.as_deref().unwrap_or_default()
    }
    one.is_described
        .cmp(&other.is_described)
        .then_with(|| topic(one).cmp(topic(other)))
        .then_with(|| other.is_core.cmp(&one.is_core))
        .then_with(|| one.pmu.cmp(&other.pmu))
        .then_with(|| one.plain_name.cmp(&other.plain_name))
}
