//! The events to count, and what the tables need to know of them.

use std::collections::HashMap;

use oxperf_abi::{EventType, HardwareId, Tid};
use oxperf_analysis::counts::{CoreCounts, CountEvent, CountSite, EventDisplay};
use oxperf_capture::count::CountedEvent;
use oxperf_capture::plan::{OpenSite, TargetTask};
use oxperf_capture::{CountedCgroup, EventRequest};
use oxperf_pmu::Catalogue;

use super::metrics::MetricSources;
use super::options::{CgroupChoice, StatCommand};
use super::problem::StatProblem;
use super::root_ports::CountedPorts;
use super::wanted::Wanted;
use super::{cgroups, default_events};
use crate::cmd::record;
use crate::cmd::record::behind::{add_condition, mounted_cgroups, number_of};
use crate::failure::Failure;
use crate::output::print_error;

/// What is said where root ports are counted in place of events that the user named.
const EVENTS_DROPPED: &str =
    "The -e and -M options are not supported.All chosen events/metrics will be dropped";
/// perf's exit code for metrics that are not there.
const NO_METRIC: i32 = 2;

/// Looks up what is counted: the events and metrics that the user named, else those of the default metrics.
///
/// # Errors
/// A name that nothing has, or a text that cannot be read.
pub(super) fn wanted(
    command: &StatCommand,
    catalogue: &Catalogue<'_>,
    metrics: Option<&MetricSources<'_>>,
) -> Result<Wanted, Failure> {
    let wishes = &command.metrics;
    let mut wanted = Wanted::default();
    if !command.events.is_empty() {
        let requests = record::events::requested_in(&command.events, catalogue)?;
        wanted = Wanted::of_events(requests);
    }
    let Some(metrics) = metrics else {
        return Ok(wanted);
    };
    if let Some(list) = &wishes.list {
        let plan = metrics.plan(list, &metrics.options(wishes));
        let plan = plan.map_err(|error| Failure::with_code(error.to_string(), NO_METRIC))?;
        wanted.add_plan(plan, catalogue)?;
    }
    if let Some(preset) = wishes.preset {
        let mut plan = preset.plan(metrics)?;
        // perf shows these in the order of the plan, and those of -M from behind.
        plan.metrics.reverse();
        wanted.add_plan(plan, catalogue)?;
    }
    if wanted.requests.is_empty() && !command.counts_nothing {
        wanted = default_events::wanted(wishes.details, metrics, catalogue)?;
    }
    Ok(wanted)
}

/// Looks up what counts the traffic of root ports. Events that the user named are looked up as well, and dropped.
///
/// # Errors
/// A name that nothing has, or a text that cannot be read.
pub(super) fn of_ports(
    command: &StatCommand,
    catalogue: &Catalogue<'_>,
    ports: CountedPorts,
) -> Result<Wanted, Failure> {
    if !command.events.is_empty() {
        record::events::requested_in(&command.events, catalogue)?;
    }
    if !command.events.is_empty() || command.metrics.list.is_some() {
        print_error(EVENTS_DROPPED);
    }
    let requests = ports.requests(catalogue)?;
    Ok(Wanted {
        ports: Some(ports),
        ..Wanted::of_events(requests)
    })
}

/// Gives the events their filters and control groups, which depends on what stands before what on the command line.
///
/// # Errors
/// A group that does not exist, or no event for it; a filter for what is no tracepoint.
pub(super) fn arranged(
    command: &StatCommand,
    catalogue: &Catalogue<'_>,
    mut requests: Vec<EventRequest>,
) -> Result<Vec<EventRequest>, StatProblem> {
    let all = requests.len();
    let number_before = |texts: usize| match command.events.get(..texts) {
        Some(texts) if texts.len() < command.events.len() || command.metrics.list.is_some() => {
            number_of(texts, catalogue)
        }
        _ => all,
    };
    for filter in &command.filters {
        let added = add_condition(filter, catalogue, number_before, &mut requests);
        added.map_err(StatProblem::of_behind)?;
    }
    if command.cgroups == CgroupChoice::None {
        return Ok(requests);
    }
    let tree = mounted_cgroups();
    cgroups::apply(&command.cgroups, tree.as_ref(), requests, number_before)
}

/// The events as tables show them. Where one is counted in a control group, all say in which.
pub(super) fn shown(events: &[CountedEvent], threads: &[Tid]) -> Vec<CountEvent> {
    let has_cgroups = events.iter().any(|event| event.request().cgroup.is_some());
    let cgroup = |request: &EventRequest| {
        let name = request.cgroup.as_ref().map_or("", CountedCgroup::name);
        has_cgroups.then(|| name.to_owned())
    };
    let places = threads.iter().enumerate().rev();
    let places: HashMap<Tid, usize> = places.map(|(place, &tid)| (tid, place)).collect();
    let event = |event: &CountedEvent| {
        let request = event.request();
        let sites = event.planned.sites.iter();
        CountEvent {
            name: request.name.clone(),
            pmu: request.pmu.to_string(),
            unit: request.unit.as_deref().unwrap_or_default().to_owned(),
            scale: request.scale.unwrap_or(1.0),
            cgroup: cgroup(request),
            is_supported: event.is_supported(),
            of_system: request.of_system,
            belongs_to_pmu: belongs_to_pmu(request),
            sites: sites.map(|site| count_site(*site, &places)).collect(),
            display: EventDisplay::Count,
            core_counts: match request.per_core {
                true => CoreCounts::Summed,
                false => CoreCounts::Apart,
            },
        }
    };
    events.iter().map(event).collect()
}

/// Events of the kernel's own kinds, those that have a name of the kernel, and latencies are known without their PMU.
fn belongs_to_pmu(request: &EventRequest) -> bool {
    const OF_ANY_PMU: [EventType; 5] = [
        EventType::HARDWARE,
        EventType::SOFTWARE,
        EventType::TRACEPOINT,
        EventType::HW_CACHE,
        EventType::BREAKPOINT,
    ];
    let name = request.name.split(':').next().unwrap_or_default();
    let is_generic = HardwareId::ALL.iter().any(|id| id.names().contains(&name));
    !is_generic && !request.retire_latency && !OF_ANY_PMU.contains(&request.attr.kind)
}

fn count_site(site: OpenSite, threads: &HashMap<Tid, usize>) -> CountSite {
    let thread = match site.task {
        TargetTask::Thread(tid) => threads.get(&tid).copied(),
        TargetTask::Anyone | TargetTask::Workload => None,
    };
    CountSite {
        cpu: site.cpu,
        thread: thread.unwrap_or(0),
    }
}

/// Makes an event of one kind of cores the same as those of other kinds.
pub(super) fn merge_cores(event: &mut CountEvent) {
    let parts = event.name.strip_prefix(&format!("{}/", event.pmu));
    let parts = parts.and_then(|parts| parts.split_once('/'));
    let Some((name, modifiers)) = parts.filter(|_| event.pmu.starts_with("cpu_")) else {
        return;
    };
    event.name = match modifiers {
        "" => name.to_owned(),
        modifiers => format!("{name}:{modifiers}"),
    };
    event.of_system = true;
    event.belongs_to_pmu = false;
}

/// The name of an event that stands for one PMU of several: `uncore_imc_0/cas_count_read/`. Modifiers stay behind it.
pub(super) fn name_on_pmu(name: &str, pmu: &str) -> String {
    if let Some((_, terms)) = name.split_once('/') {
        return format!("{pmu}/{terms}");
    }
    let (name, modifiers) = name.split_once(':').unwrap_or((name, ""));
    format!("{pmu}/{name}/{modifiers}")
}

#[cfg(test)]
mod tests {
    use super::name_on_pmu;

    #[test]
    fn events_of_cores_lose_their_pmu() {
        let merged = |name: &str, pmu: &str| {
            let mut event = oxperf_analysis::counts::CountEvent {
                name: name.to_owned(),
                pmu: pmu.to_owned(),
                ..Default::default()
            };
            super::merge_cores(&mut event);
            (event.name, event.of_system)
        };
        let expected = |name: &str, merges| (name.to_owned(), merges);
        assert_eq!(
            merged("cpu_atom/cycles/u", "cpu_atom"),
            expected("cycles:u", true)
        );
        assert_eq!(
            merged("task-clock", "software"),
            expected("task-clock", false)
        );
    }

    #[test]
    fn names_on_one_of_several_pmus() {
        let name = name_on_pmu("uncore_imc/cas_count_read/", "uncore_imc_0");
        assert_eq!(name, "uncore_imc_0/cas_count_read/");
        assert_eq!(name_on_pmu("cas", "imc_1"), "imc_1/cas/");
        assert_eq!(name_on_pmu("retired.any:k", "cpu"), "cpu/retired.any/k");
    }
}
