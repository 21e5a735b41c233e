//! The sites where events are opened, and the rings that take their records.

use oxperf_abi::{Cpu, Tid};
use oxperf_pmu::DrmPmus;
use oxperf_pmu::tool::ToolEvent;

use super::{MachineInfo, PlannedEvent};
use crate::event::EventRequest;
use crate::options::{Target, TargetOptions};

/// Whose events are counted at a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TargetTask {
    /// Whoever runs on the CPU.
    Anyone,
    /// The program that the recorder starts.
    Workload,
    /// An existing thread.
    Thread(Tid),
}

/// One `perf_event_open`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct OpenSite {
    /// The CPU; `None` follows the task to any.
    pub cpu: Option<Cpu>,
    /// The task.
    pub task: TargetTask,
}

/// The records that a ring keeps when it is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RingKind {
    /// Those that are there: what comes is lost, and counted. The ring is drained as it fills.
    Forward,
    /// The newest, which the kernel writes over the oldest. The ring is copied at a moment that somebody chooses.
    Backward,
}

impl RingKind {
    /// Every kind.
    pub const ALL: [RingKind; 2] = [RingKind::Forward, RingKind::Backward];
}

/// The owner of a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RingKey {
    /// All that happens on a CPU.
    Cpu(Cpu),
    /// All that a task does.
    Task(TargetTask),
}

impl RingKey {
    fn of(site: OpenSite) -> RingKey {
        site.cpu.map_or(RingKey::Task(site.task), RingKey::Cpu)
    }

    /// Returns whether the records of `site` go to a ring of this owner.
    pub fn takes(self, site: OpenSite) -> bool {
        self == RingKey::of(site)
    }
}

/// The sites of an event that is counted: a task is followed over all CPUs, unless the event belongs to some.
pub(super) fn for_counting(
    target: &TargetOptions,
    machine: &MachineInfo,
    request: &EventRequest,
) -> Vec<OpenSite> {
    let cpus = counting_cpus(target, &machine.online, request);
    let cpus = cpus.map_or_else(|| vec![None], |cpus| cpus.into_iter().map(Some).collect());
    let mut sites = of_each(&cpus, &tasks(target, machine));
    if is_counted_once(request, target) {
        sites.truncate(1);
    }
    sites
}

/// The CPUs where an event is counted; `None` for one that follows tasks to all.
pub fn counting_cpus(
    target: &TargetOptions,
    online: &[Cpu],
    request: &EventRequest,
) -> Option<Vec<Cpu>> {
    let counts_on = |cpu: &Cpu| request.cpus.as_ref().is_none_or(|own| own.contains(cpu));
    let (of_target, follows) = match &target.target {
        Target::AllCpus => (online, false),
        Target::Cpus(cpus) => (&**cpus, false),
        Target::Workload | Target::Processes(_) | Target::Threads(_) => (online, true),
    };
    if follows && !request.of_system && request.chosen_cpus.is_none() {
        return None;
    }
    let mut cpus: Vec<Cpu> = of_target.iter().copied().filter(counts_on).collect();
    if is_counted_once(request, target) {
        cpus.truncate(1);
    }
    Some(cpus)
}

/// Returns whether an event says the same wherever it is counted: facts about the machine and sensors. Processor time
/// differs, and what a graphics device does for a process.
fn is_counted_once(request: &EventRequest, target: &TargetOptions) -> bool {
    let is_time = matches!(
        ToolEvent::of(&request.attr),
        Some(ToolEvent::UserTime | ToolEvent::SystemTime)
    );
    let of_process = DrmPmus::has(&request.attr) && !target.target.is_cpu_wide();
    !request.is_counted_by_kernel() && !is_time && !of_process
}

/// The sites of an event that is sampled: a ring belongs to a CPU, unless the user wants one a thread. A tracking event
/// that was `added` for whole CPUs watches all of them: a task may be born and mapped on one and run on another. What tells
/// of the whole system is on all CPUs, whatever the target.
pub(super) fn for_sampling(
    target: &TargetOptions,
    machine: &MachineInfo,
    request: &EventRequest,
    added: bool,
) -> Vec<OpenSite> {
    if request.watches_system {
        return of_each(&counted_on(&machine.online, request), &[TargetTask::Anyone]);
    }
    let cpus = match &target.target {
        Target::Cpus(cpus) if !added => counted_on(cpus, request),
        _ if target.follows_tasks() => vec![None],
        _ => counted_on(&machine.online, request),
    };
    of_each(&cpus, &tasks(target, machine))
}

fn of_each(cpus: &[Option<Cpu>], tasks: &[TargetTask]) -> Vec<OpenSite> {
    let of_cpu = |&cpu: &Option<Cpu>| tasks.iter().map(move |&task| OpenSite { cpu, task });
    cpus.iter().flat_map(of_cpu).collect()
}

/// Those of `cpus` on which the event's PMU counts.
fn counted_on(cpus: &[Cpu], request: &EventRequest) -> Vec<Option<Cpu>> {
    let counts_on = |cpu: &&Cpu| request.cpus.as_ref().is_none_or(|own| own.contains(cpu));
    cpus.iter().filter(counts_on).copied().map(Some).collect()
}

fn tasks(target: &TargetOptions, machine: &MachineInfo) -> Vec<TargetTask> {
    match &target.target {
        Target::AllCpus | Target::Cpus(_) => vec![TargetTask::Anyone],
        Target::Workload => vec![TargetTask::Workload],
        Target::Processes(_) | Target::Threads(_) => {
            let threads = machine.threads.iter().copied();
            threads.map(TargetTask::Thread).collect()
        }
    }
}

/// The owners of rings: CPUs ascending, tasks in the order in which the events' sites first need them.
pub(super) fn rings(events: &[PlannedEvent]) -> Vec<RingKey> {
    let mut rings = Vec::new();
    for key in events
        .iter()
        .flat_map(|event| &event.sites)
        .map(|&site| RingKey::of(site))
    {
        if !rings.contains(&key) {
            rings.push(key);
        }
    }
    rings.sort_by_key(|key| match key {
        RingKey::Cpu(cpu) => Some(*cpu),
        RingKey::Task(_) => None,
    });
    rings
}
