//! Filters and control groups of events: both are about events that stand before them on the command line.

use std::fmt;

use oxperf_capture::{CgroupTree, CountedCgroup, EventRequest};
use oxperf_pmu::Catalogue;
use oxperf_present::text::sanitize;

use super::{RecordCommand, events};
use crate::arguments::behind::BehindEvents;
use crate::failure::Failure;

/// A filter or a control group does not fit the events before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::cmd) enum BehindProblem {
    /// A filter that no event stands before which it can be for.
    FilterAlone(&'static str),
    /// A filter for an event that has no fields.
    NoTracepoint {
        /// The event.
        event: String,
        /// It writes a hardware trace, and its PMU takes no filters of addresses.
        is_traced: bool,
    },
    /// There are no events for control groups.
    NoEvents,
    /// A control group that cannot be opened: its folder.
    NoCgroup(String),
    /// A list has more control groups than there are events before it.
    MoreCgroups,
}

impl BehindProblem {
    /// The option that it is about.
    pub(in crate::cmd) fn option(&self) -> &'static str {
        match self {
            BehindProblem::FilterAlone(option) => option,
            BehindProblem::NoTracepoint { .. } => "--filter",
            _ => "--cgroup",
        }
    }
}

impl fmt::Display for BehindProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BehindProblem::FilterAlone("--filter") => {
                f.write_str("--filter option should follow a -e tracepoint or HW tracer option")
            }
            BehindProblem::FilterAlone(option) => {
                write!(f, "{option} option should follow a -e tracepoint option")
            }
            BehindProblem::NoTracepoint {
                event,
                is_traced: true,
            } => write!(
                f,
                "--filter: '{}' is no tracepoint, and its PMU takes no filters of addresses (nr_addr_filters)",
                sanitize(event)
            ),
            BehindProblem::NoTracepoint { event, .. } => write!(
                f,
                "--filter: '{}' is no tracepoint and has no fields; filters by BPF programs are not supported",
                sanitize(event)
            ),
            BehindProblem::NoEvents => f.write_str("must define events before cgroups"),
            BehindProblem::NoCgroup(folder) => {
                write!(f, "no access to cgroup {}", sanitize(folder))
            }
            BehindProblem::MoreCgroups => f.write_str("more cgroups than events"),
        }
    }
}

/// Gives the events of a recording their filters and control groups.
///
/// # Errors
/// See [`BehindProblem`].
pub(super) fn arranged(
    command: &RecordCommand,
    catalogue: &Catalogue<'_>,
    mut requests: Vec<EventRequest>,
) -> Result<Vec<EventRequest>, Failure> {
    let all = requests.len();
    let number_before = |texts: usize| match command.events.get(..texts) {
        Some(texts) if texts.len() < command.events.len() => number_of(texts, catalogue),
        _ => all,
    };
    let failure = |problem: BehindProblem| Failure::bad_option(problem.to_string());
    for condition in &command.conditions {
        add_condition(condition, catalogue, number_before, &mut requests).map_err(failure)?;
    }
    if command.cgroups.is_empty() {
        return Ok(requests);
    }
    let (tree, mut next) = (mounted_cgroups(), 0);
    for list in &command.cgroups {
        let named = match list.events_before {
            0 => 0,
            texts => number_before(texts),
        };
        assign(&list.text, tree.as_ref(), &mut requests[..named], &mut next).map_err(failure)?;
    }
    Ok(requests)
}

/// The number of events that texts stand for, all of which were looked up before.
pub(in crate::cmd) fn number_of(texts: &[String], catalogue: &Catalogue<'_>) -> usize {
    if texts.is_empty() {
        return 0;
    }
    let requests = events::requested_in(texts, catalogue);
    requests.map_or(0, |requests| requests.len())
}

/// Gives the events of the text before a condition that condition. `number_before` is the number of events that so many of
/// the texts give.
///
/// # Errors
/// No text stands before it, or it stands for what takes none.
pub(in crate::cmd) fn add_condition(
    condition: &BehindEvents,
    catalogue: &Catalogue<'_>,
    number_before: impl Fn(usize) -> usize,
    requests: &mut [EventRequest],
) -> Result<(), BehindProblem> {
    let option = match condition.option {
        "filter" => "--filter",
        _ => "--exclude-perf",
    };
    let before = condition.events_before.checked_sub(1);
    let before = before.ok_or(BehindProblem::FilterAlone(option))?;
    let events = number_before(before)..number_before(condition.events_before);
    let events = requests.get_mut(events).unwrap_or_default();
    let takes = |event: &EventRequest| {
        let of_addresses = option == "--filter" && catalogue.address_filters(event.attr.kind) != 0;
        event.tracepoint.is_some() || of_addresses
    };
    if let Some(other) = events.iter().rfind(|own| !takes(own)) {
        return Err(match option {
            "--filter" => BehindProblem::NoTracepoint {
                event: other.name.clone(),
                is_traced: other.aux.is_traced,
            },
            _ => BehindProblem::FilterAlone(option),
        });
    }
    events
        .iter_mut()
        .for_each(|own| own.add_filter(&condition.text));
    Ok(())
}

/// The control groups of this system.
pub(in crate::cmd) fn mounted_cgroups() -> Option<CgroupTree> {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    CgroupTree::of_mounts(&mounts)
}

/// Gives the events the groups of a list, beginning with the event at `next`; the first group of all is that of all events
/// before it when it is alone.
///
/// # Errors
/// A group does not exist, or there is no event for it.
pub(in crate::cmd) fn assign(
    names: &str,
    tree: Option<&CgroupTree>,
    events: &mut [EventRequest],
    next: &mut usize,
) -> Result<(), BehindProblem> {
    if events.is_empty() {
        return Err(BehindProblem::NoEvents);
    }
    for name in names.split(',') {
        if !name.is_empty() {
            let known = events.iter().filter_map(|event| event.cgroup.clone());
            let group = match known.into_iter().find(|group| group.name() == name) {
                Some(group) => group,
                None => open(tree, name).map_err(BehindProblem::NoCgroup)?,
            };
            let event = events.get_mut(*next).ok_or(BehindProblem::MoreCgroups)?;
            event.cgroup = Some(group);
        }
        *next += 1;
    }
    if *next == 1 {
        let group = events[0].cgroup.clone();
        events
            .iter_mut()
            .for_each(|event| event.cgroup.clone_from(&group));
    }
    Ok(())
}

/// Opens a group, or gives the folder that cannot be.
pub(in crate::cmd) fn open(tree: Option<&CgroupTree>, name: &str) -> Result<CountedCgroup, String> {
    let path = |tree: &CgroupTree| tree.path(name).display().to_string();
    let opened = tree.and_then(|tree| tree.open(name).ok());
    opened.ok_or_else(|| tree.map_or_else(|| name.to_owned(), path))
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{EventType, SoftwareId};
    use oxperf_pmu::{MemoryPmus, MemoryTracepoints};

    use super::*;

    fn events() -> Vec<EventRequest> {
        let event = |leader| EventRequest {
            leader,
            ..EventRequest::software(SoftwareId::CpuClock, "a")
        };
        vec![event(None), event(Some(0)), event(None)]
    }

    fn groups(events: &[EventRequest]) -> Vec<&str> {
        let groups = events.iter().map(|event| event.cgroup.as_ref());
        groups
            .map(|group| group.map_or("", CountedCgroup::name))
            .collect()
    }

    fn in_groups(lists: &[&str]) -> Result<Vec<EventRequest>, BehindProblem> {
        // Every system has this folder with these in it.
        let tree = CgroupTree::of_mounts("x /proc cgroup2 rw 0 0").unwrap();
        let (mut events, mut next) = (events(), 0);
        for list in lists {
            assign(list, Some(&tree), &mut events, &mut next)?;
        }
        Ok(events)
    }

    #[test]
    fn events_take_the_groups_of_a_list_one_by_one() {
        assert_eq!(groups(&in_groups(&["sys"]).unwrap()), ["sys", "sys", "sys"]);
        assert_eq!(groups(&in_groups(&["sys,"]).unwrap()), ["sys", "", ""]);
        assert_eq!(groups(&in_groups(&[",,/sys"]).unwrap()), ["", "", "/sys"]);
        assert_eq!(
            groups(&in_groups(&["sys", "tty"]).unwrap()),
            ["sys", "tty", "sys"]
        );
        let many = in_groups(&["sys,sys,sys,sys"]).unwrap_err();
        assert_eq!(many, BehindProblem::MoreCgroups);
        let unknown = in_groups(&["nosuch"]).unwrap_err();
        assert_eq!(unknown.to_string(), "no access to cgroup /proc/nosuch");
    }

    #[test]
    fn conditions_are_of_the_tracepoints_before_them() {
        let condition = |option, events_before| BehindEvents {
            option,
            text: "x > 1".to_owned(),
            events_before,
            place: 0,
        };
        let mut requests = events();
        requests[1].tracepoint = Some(("sched".to_owned(), "sched_switch".to_owned()));
        let pmus = MemoryPmus::new()
            .pmu("intel_pt", 10)
            .file("nr_addr_filters", "2");
        let tracepoints = MemoryTracepoints::default();
        let catalogue = Catalogue::new(&pmus, &tracepoints);
        let mut add = |option, before| {
            let condition = condition(option, before);
            add_condition(&condition, &catalogue, |texts| texts, &mut requests)
        };
        assert_eq!(add("filter", 2), Ok(()));
        assert_eq!(
            add("exclude-perf", 0).unwrap_err().to_string(),
            "--exclude-perf option should follow a -e tracepoint option"
        );
        let other = add("filter", 3).unwrap_err();
        assert!(matches!(other, BehindProblem::NoTracepoint { .. }));
        let filters: Vec<_> = requests.iter().map(|own| own.filter.as_deref()).collect();
        assert_eq!(filters, [None, Some("x > 1"), None]);
        requests[2].attr.kind = EventType(10);
        let mut add = |option| {
            let condition = condition(option, 3);
            add_condition(&condition, &catalogue, |texts| texts, &mut requests)
        };
        assert_eq!((add("filter"), add("filter")), (Ok(()), Ok(())));
        assert!(add("exclude-perf").is_err());
        assert_eq!(requests[2].filter.as_deref(), Some("x > 1,x > 1"));
    }
}
