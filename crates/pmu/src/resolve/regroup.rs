//! Groups that the kernel can open: all members of one PMU, and `slots` before the metrics that are counted with it.
//!
//! Events of several PMUs cannot be counted as one group. A group of the user is sorted by PMU, and each PMU's part
//! becomes a group. Software events may be in any group and stay with its first hardware event.

use super::event::ResolvedEvent;
use crate::catalogue::{Catalogue, Pmu};
use oxperf_abi::EventType;
use std::cmp::Ordering;
use std::sync::Arc;

/// An event on its way to its place.
struct Entry {
    event: ResolvedEvent,
    /// The index of the leader as written, or its own.
    group: usize,
    /// It was written in a group.
    is_grouped: bool,
    /// It belongs to the same part of the group as the leader as written.
    is_with_leader: bool,
    /// The PMU whose part of the group it belongs to.
    pmu: Arc<str>,
    topdown: Option<Topdown>,
    index: usize,
}

/// The part of an event in the metrics that the CPU counts beside its slots.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Topdown {
    /// The slots, which have to lead.
    Slots,
    /// A metric, which has to follow them.
    Metric,
}

/// Sorts groups by PMU and takes them apart. Events whose group is not the one that was written say so.
pub(super) fn regroup(
    mut events: Vec<ResolvedEvent>,
    catalogue: &Catalogue<'_>,
) -> Vec<ResolvedEvent> {
    if let [event] = &mut *events
        && topdown(event, catalogue).is_none()
    {
        event.is_auxiliary = is_loads_helper(event, catalogue);
        return events;
    }
    let written: Vec<Option<usize>> = events.iter().map(|event| event.leader).collect();
    let mut entries = entries(events, catalogue);
    gather_aux_output(&mut entries);
    gather_topdown(&mut entries);
    add_slots(&mut entries, catalogue);
    entries.sort_by(order);
    let moved: Vec<usize> = entries.iter().map(|entry| entry.index).collect();
    let mut events = lead(entries, catalogue);
    let is_changed = moved.iter().enumerate().any(|(new, old)| new != *old)
        || events.iter().map(|event| event.leader).ne(written);
    events
        .iter_mut()
        .for_each(|event| event.regrouped = is_changed);
    events
}

fn entries(events: Vec<ResolvedEvent>, catalogue: &Catalogue<'_>) -> Vec<Entry> {
    let grouped = grouped(&events);
    let pmu = |(index, is_grouped): (usize, &bool)| match is_grouped {
        true => Arc::clone(group_pmu(&events, index)),
        false => Arc::clone(&events[index].pmu),
    };
    let pmus: Vec<Arc<str>> = grouped.iter().enumerate().map(pmu).collect();
    let entry = |(index, event): (usize, ResolvedEvent)| {
        let group = event.leader.unwrap_or(index);
        Entry {
            topdown: topdown(&event, catalogue),
            event,
            group,
            is_grouped: grouped[index],
            is_with_leader: pmus.get(group) == Some(&pmus[index]),
            pmu: pmus[index].clone(),
            index,
        }
    };
    events.into_iter().enumerate().map(entry).collect()
}

/// Whether each event is in a group, its leader or a member.
fn grouped(events: &[ResolvedEvent]) -> Vec<bool> {
    let mut grouped = vec![false; events.len()];
    for (index, event) in events.iter().enumerate() {
        if let Some(leader) = event.leader {
            grouped[index] = true;
            grouped[leader] = true;
        }
    }
    grouped
}

/// The PMU by which an event of a group is sorted: its own; that of a leader that traces; for a software event in a group that of
/// the first member that has counters, else of the leader.
fn group_pmu(events: &[ResolvedEvent], index: usize) -> &Arc<str> {
    let event = &events[index];
    let leader = event.leader.unwrap_or(index);
    if let Some(tracing) = events.get(leader).filter(|leader| leader.is_traced()) {
        return &tracing.pmu;
    }
    if !is_software(event) {
        return &event.pmu;
    }
    let members = events
        .iter()
        .enumerate()
        .filter(|(other, member)| *other == leader || member.leader == Some(leader));
    let mut counted = members
        .map(|(_, member)| member)
        .filter(|member| !is_software(member));
    counted
        .next()
        .map_or(&events[leader].pmu, |member| &member.pmu)
}

/// Returns whether the kernel counts an event without counters of a PMU, so that it may be in any group.
fn is_software(event: &ResolvedEvent) -> bool {
    const NAMES: [&str; 3] = ["kprobe", "msr", "uprobe"];
    let kinds = [
        EventType::SOFTWARE,
        EventType::TRACEPOINT,
        EventType::BREAKPOINT,
    ];
    kinds.contains(&event.attr.kind)
        || !event.is_counted_by_kernel()
        || NAMES.contains(&&*event.pmu)
}

fn topdown(event: &ResolvedEvent, catalogue: &Catalogue<'_>) -> Option<Topdown> {
    const METRICS: std::ops::RangeInclusive<u64> = 0x80..=0x87;
    if event.attr.config & 0xff != 0 {
        return None;
    }
    let part = match (event.attr.config >> 8) & 0xff {
        4 => Topdown::Slots,
        umask if METRICS.contains(&umask) => Topdown::Metric,
        _ => return None,
    };
    let pmu = slots_pmu(event, catalogue)?;
    (event.attr.kind == pmu.kind()).then_some(part)
}

/// The event's core PMU, if that counts slots.
fn slots_pmu<'c, 'a>(event: &ResolvedEvent, catalogue: &'c Catalogue<'a>) -> Option<&'c Pmu<'a>> {
    let mut own = catalogue.cores().filter(|pmu| pmu.name() == &*event.pmu);
    own.find(|pmu| pmu.alias("slots").is_some())
}

/// An event whose samples go into a trace belongs to the tracing event before it.
fn gather_aux_output(entries: &mut [Entry]) {
    let mut tracing: Option<(usize, Arc<str>)> = None;
    for entry in entries.iter_mut() {
        if entry.event.is_traced() {
            tracing = Some((entry.group, entry.pmu.clone()));
        }
        let goes_into_trace = entry.event.terms.aux_output == Some(true) && !entry.is_grouped;
        if let Some((group, pmu)) = tracing.clone().filter(|_| goes_into_trace) {
            entry.group = group;
            entry.pmu = pmu;
        }
    }
}

/// Slots and metrics outside of groups belong together: to the first group that has one of them.
fn gather_topdown(entries: &mut [Entry]) {
    let first = entries.iter().find(|entry| entry.topdown.is_some());
    let Some(group) = first.map(|entry| entry.group) else {
        return;
    };
    for entry in entries.iter_mut() {
        if entry.topdown.is_some() && !entry.is_grouped {
            entry.group = group;
        }
    }
}

/// A group with metrics and without slots gets them as its leader.
fn add_slots(entries: &mut Vec<Entry>, catalogue: &Catalogue<'_>) {
    let metrics = entries
        .iter()
        .filter(|entry| entry.topdown == Some(Topdown::Metric));
    let mut lacking: Vec<(usize, usize)> = metrics
        .filter(|metric| !entries.iter().any(|other| is_slots_of(other, metric)))
        .map(|metric| (metric.group, metric.index))
        .collect();
    lacking.dedup_by_key(|(group, _)| *group);
    for (_, index) in lacking {
        let Some(place) = entries.iter().position(|entry| entry.index == index) else {
            continue;
        };
        if let Some(slots) = slots_for(&entries[place], catalogue) {
            entries.insert(place, slots);
        }
    }
}

fn is_slots_of(entry: &Entry, metric: &Entry) -> bool {
    entry.topdown == Some(Topdown::Slots)
        && (entry.group, &entry.pmu) == (metric.group, &metric.pmu)
}

fn slots_for(metric: &Entry, catalogue: &Catalogue<'_>) -> Option<Entry> {
    const SLOTS: u64 = 0x400;
    let pmu = slots_pmu(&metric.event, catalogue)?;
    let mut event = ResolvedEvent::new(format!("{}/slots/", pmu.name()), pmu.shared_name());
    event.attr.kind = pmu.kind();
    event.attr.config = SLOTS;
    event.cpus = pmu.cpus();
    event.sample_read = metric.event.sample_read;
    Some(Entry {
        event,
        group: metric.group,
        is_grouped: true,
        is_with_leader: metric.is_with_leader,
        pmu: metric.pmu.clone(),
        topdown: Some(Topdown::Slots),
        index: metric.index,
    })
}

/// By group, PMU, and the order as written; slots first, then metrics that were outside of the group. A group that must not
/// be rearranged has the members of its leader's PMU first.
fn order(one: &Entry, other: &Entry) -> Ordering {
    let rank = |entry: &Entry| match entry.topdown {
        Some(Topdown::Slots) => 0,
        Some(Topdown::Metric) if !entry.is_grouped => 1,
        _ => 2,
    };
    let by_pmu = if one.event.keep_order && other.event.keep_order {
        other.is_with_leader.cmp(&one.is_with_leader)
    } else {
        one.pmu.cmp(&other.pmu)
    };
    one.group
        .cmp(&other.group)
        .then(by_pmu)
        .then_with(|| rank(one).cmp(&rank(other)))
        .then_with(|| one.index.cmp(&other.index))
}

/// Names the leaders of sorted events: the first of each PMU's part of a group. A group that must not be rearranged keeps
/// the members of its first PMU; the others stand alone.
fn lead(entries: Vec<Entry>, catalogue: &Catalogue<'_>) -> Vec<ResolvedEvent> {
    let mut events: Vec<ResolvedEvent> = Vec::with_capacity(entries.len());
    let mut current: Option<(usize, Arc<str>, usize)> = None;
    for Entry {
        mut event,
        group,
        pmu,
        topdown,
        ..
    } in entries
    {
        event.is_auxiliary = topdown == Some(Topdown::Slots) || is_loads_helper(&event, catalogue);
        let place = events.len();
        event.leader = match &current {
            Some((of, leading, leader)) if *of == group && *leading == pmu => Some(*leader),
            Some((of, ..)) if *of == group && event.keep_order => None,
            _ => {
                current = Some((group, pmu, place));
                None
            }
        };
        events.push(event);
    }
    events
}

/// Returns whether this is the event without which some CPUs do not sample loads.
fn is_loads_helper(event: &ResolvedEvent, catalogue: &Catalogue<'_>) -> bool {
    const HELPER: u64 = 0x8203;
    let of_event = |pmu: &Pmu<'_>| pmu.kind() == event.attr.kind;
    event.attr.config == HELPER
        && catalogue
            .cores()
            .any(|pmu| of_event(pmu) && pmu.alias("mem-loads-aux").is_some())
}
