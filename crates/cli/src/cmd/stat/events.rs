//! The events to count, and what the tables need to know of them.

use oxperf_abi::{EventType, HardwareId};
use oxperf_analysis::counts::{CountEvent, CountSite};
use oxperf_capture::count::CountedEvent;
use oxperf_capture::plan::{OpenSite, TargetTask};
use oxperf_capture::{CgroupTree, CountedCgroup, EventRequest};

use super::cgroups;
use super::options::{CgroupChoice, StatCommand};
use super::problem::StatProblem;
use crate::cmd::record;
use crate::event_tables;
use crate::failure::Failure;
use crate::output::print_error;

/// Looks up the events that the user named.
pub(super) fn requested(command: &StatCommand) -> Result<Vec<EventRequest>, Failure> {
    if !command.events.is_empty() {
        let tables = event_tables::of_machine(&command.tables)?;
        let requests = record::events::requested(&command.events, &command.options.sysfs, &tables);
        event_tables::problems(&tables)
            .iter()
            .for_each(|problem| print_error(problem));
        return requests;
    }
    if command.counts_nothing {
        return Ok(Vec::new());
    }
    Err(Failure::bad_option(
        "the events that are counted by default are not here yet: name some with -e, such as -e task-clock,page-faults,cycles,instructions",
    ))
}

/// Puts the events into their control groups.
///
/// # Errors
/// A group that does not exist, or no event for it.
pub(super) fn in_cgroups(
    command: &StatCommand,
    requests: Vec<EventRequest>,
) -> Result<Vec<EventRequest>, StatProblem> {
    if command.cgroups == CgroupChoice::None {
        return Ok(requests);
    }
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let tree = CgroupTree::of_mounts(&mounts);
    let all = requests.len();
    let number_before = |texts: usize| match command.events.get(..texts) {
        Some(texts) if texts.len() < command.events.len() => number_of(command, texts),
        _ => all,
    };
    cgroups::apply(&command.cgroups, tree.as_ref(), requests, number_before)
}

/// The number of events that texts stand for, all of which were looked up before.
fn number_of(command: &StatCommand, texts: &[String]) -> usize {
    if texts.is_empty() {
        return 0;
    }
    let events = StatCommand {
        events: texts.to_vec(),
        ..command.clone()
    };
    requested(&events).map_or(0, |requests| requests.len())
}

/// The events as tables show them. Where one is counted in a control group, all say in which.
pub(super) fn shown(events: &[CountedEvent], threads: &[oxperf_abi::Tid]) -> Vec<CountEvent> {
    let has_cgroups = events.iter().any(|event| event.request().cgroup.is_some());
    let cgroup = |request: &EventRequest| {
        let name = request.cgroup.as_ref().map_or("", CountedCgroup::name);
        has_cgroups.then(|| name.to_owned())
    };
    let event = |event: &CountedEvent| {
        let request = event.request();
        let sites = event.planned.sites.iter();
        CountEvent {
            name: request.name.clone(),
            pmu: request.pmu.clone(),
            unit: request.unit.clone().unwrap_or_default(),
            scale: request.scale.unwrap_or(1.0),
            cgroup: cgroup(request),
            is_supported: event.is_supported(),
            of_system: request.of_system,
            belongs_to_pmu: belongs_to_pmu(request),
            sites: sites.map(|site| count_site(*site, threads)).collect(),
        }
    };
    events.iter().map(event).collect()
}

/// Events of the kernel's own kinds, and those that have a name of the kernel, are known without their PMU.
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
    !is_generic && !OF_ANY_PMU.contains(&request.attr.kind)
}

fn count_site(site: OpenSite, threads: &[oxperf_abi::Tid]) -> CountSite {
    let thread = match site.task {
        TargetTask::Thread(tid) => threads.iter().position(|own| *own == tid),
        TargetTask::Anyone | TargetTask::Workload => None,
    };
    CountSite {
        cpu: site.cpu,
        thread: thread.unwrap_or(0),
    }
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
    fn names_on_one_of_several_pmus() {
        let name = name_on_pmu("uncore_imc/cas_count_read/", "uncore_imc_0");
        assert_eq!(name, "uncore_imc_0/cas_count_read/");
        assert_eq!(name_on_pmu("cas", "imc_1"), "imc_1/cas/");
        assert_eq!(name_on_pmu("retired.any:k", "cpu"), "cpu/retired.any/k");
    }
}
