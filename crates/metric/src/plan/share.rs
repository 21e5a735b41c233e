//! Sets of events: one for all metrics whose events are not grouped, one for each other metric unless another's has all of
//! its events.

use super::event_text::{TOOL_EVENTS, is_tool_event};
use super::{Draft, EventBatch, MetricPlan, PlanOptions};
use crate::MetricIds;

/// A batch whose set of names still grows and is compared.
struct Set {
    ids: MetricIds,
    grouped: bool,
    modifier: Option<String>,
    pmu: Option<String>,
}

/// The plan of metrics that stand in the order in which they were asked for.
pub(super) fn share(mut drafts: Vec<Draft<'_>>, options: &PlanOptions) -> MetricPlan {
    // The last asked first, those with the most events first, so that smaller ones find their events in them.
    drafts.reverse();
    drafts.sort_by_key(|draft| std::cmp::Reverse(events_of(&draft.ids)));
    let tools = tools_of(&drafts);
    let mut sets = Vec::new();
    if !options.no_merge {
        sets.extend(common_set(&drafts, &tools));
    }
    let has_common = !sets.is_empty();
    let mut plan = MetricPlan::default();
    for draft in drafts {
        let found = shared_set(&draft, &sets, has_common, options);
        let batch = found.unwrap_or_else(|| {
            sets.push(set_of(&draft, &tools, options));
            sets.len() - 1
        });
        plan.metrics.push(draft.planned(batch));
    }
    plan.batches = sets.into_iter().map(Set::batch).collect();
    plan
}

/// The number of events that take a counter.
fn events_of(ids: &MetricIds) -> usize {
    ids.iter().filter(|id| !is_tool_event(id)).count()
}

/// The tool events that any metric needs. Every set gets them, so that they keep no set from being shared.
fn tools_of(drafts: &[Draft<'_>]) -> Vec<&'static str> {
    let needed = |tool: &&str| drafts.iter().any(|draft| draft.ids.contains(tool));
    TOOL_EVENTS.into_iter().filter(needed).collect()
}

/// The set of the metrics whose events are not grouped.
fn common_set(drafts: &[Draft<'_>], tools: &[&str]) -> Option<Set> {
    let mut ids = MetricIds::default();
    for draft in drafts.iter().filter(|draft| is_in_common_set(draft)) {
        for id in draft.ids.iter() {
            ids.insert(id.to_owned());
        }
    }
    if ids.is_empty() {
        return None;
    }
    add_tools(&mut ids, tools);
    Some(Set {
        ids,
        grouped: false,
        modifier: None,
        pmu: None,
    })
}

fn is_in_common_set(draft: &Draft<'_>) -> bool {
    !draft.grouped && draft.modifier.is_none()
}

/// The place of a set that has the events of a metric.
fn shared_set(
    draft: &Draft<'_>,
    sets: &[Set],
    has_common: bool,
    options: &PlanOptions,
) -> Option<usize> {
    if has_common && is_in_common_set(draft) {
        return Some(0);
    }
    if options.no_merge {
        return None;
    }
    let own = sets.iter().enumerate().skip(usize::from(has_common));
    let mut shared = own.filter(|(_, set)| {
        set.modifier == draft.modifier
            && set.pmu.as_deref() == draft.definition.pmu.as_deref()
            && set.ids.includes(&draft.ids)
    });
    shared.next().map(|(place, _)| place)
}

fn set_of(draft: &Draft<'_>, tools: &[&str], options: &PlanOptions) -> Set {
    let mut ids = draft.ids.clone();
    if !options.no_merge || ids.is_empty() {
        add_tools(&mut ids, tools);
    }
    Set {
        ids,
        grouped: draft.grouped,
        modifier: draft.modifier.clone(),
        pmu: draft.definition.pmu.as_deref().map(str::to_owned),
    }
}

/// Adds tool events; a set without any event gets one that is always there.
fn add_tools(ids: &mut MetricIds, tools: &[&str]) {
    for tool in tools {
        ids.insert((*tool).to_owned());
    }
    if ids.is_empty() {
        ids.insert("duration_time".to_owned());
    }
}

impl Set {
    fn batch(self) -> EventBatch {
        let owned = |id: &str| id.to_owned();
        let tools = TOOL_EVENTS
            .into_iter()
            .filter(|tool| self.ids.contains(tool));
        EventBatch {
            events: self
                .ids
                .iter()
                .filter(|id| !is_tool_event(id))
                .map(owned)
                .collect(),
            tools: tools.map(owned).collect(),
            grouped: self.grouped,
            modifier: self.modifier,
        }
    }
}
