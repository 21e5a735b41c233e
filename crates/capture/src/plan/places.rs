//! Where events are opened, and which ring takes their records.

use oxperf_abi::{Cpu, Tid};

use super::{PlannedEvent, Scene};
use crate::event::EventRequest;
use crate::options::{RecordOptions, Target};

/// Whose events are counted at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Task {
    /// Whoever runs on the CPU.
    Anyone,
    /// The program that the recorder starts.
    Workload,
    /// An existing thread.
    Thread(Tid),
}

/// One `perf_event_open`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Place {
    /// The CPU; `None` follows the task to any.
    pub cpu: Option<Cpu>,
    /// The task.
    pub task: Task,
}

/// What a ring belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RingKey {
    /// All that happens on a CPU.
    Cpu(Cpu),
    /// All that a task does.
    Task(Task),
}

impl RingKey {
    fn of(place: Place) -> RingKey {
        place.cpu.map_or(RingKey::Task(place.task), RingKey::Cpu)
    }

    /// Whether the records of `place` go to this ring.
    pub fn takes(self, place: Place) -> bool {
        self == RingKey::of(place)
    }
}

pub(super) fn places(
    options: &RecordOptions,
    scene: &Scene,
    request: &EventRequest,
    tracking: bool,
) -> Vec<Place> {
    let tasks = tasks(options, scene);
    cpus(options, scene, request, tracking)
        .into_iter()
        .flat_map(|cpu| tasks.iter().map(move |&task| Place { cpu, task }))
        .collect()
}

/// The tracking event of a CPU recording watches all CPUs: a task may be born and mapped on one and run on another.
fn cpus(
    options: &RecordOptions,
    scene: &Scene,
    request: &EventRequest,
    tracking: bool,
) -> Vec<Option<Cpu>> {
    let cpus = match &options.target {
        Target::Cpus(cpus) if !tracking => cpus,
        _ if options.follows_tasks() => return vec![None],
        _ => &scene.online,
    };
    let counts_on = |cpu: &&Cpu| request.cpus.as_ref().is_none_or(|own| own.contains(cpu));
    cpus.iter().filter(counts_on).copied().map(Some).collect()
}

fn tasks(options: &RecordOptions, scene: &Scene) -> Vec<Task> {
    match &options.target {
        Target::AllCpus | Target::Cpus(_) => vec![Task::Anyone],
        Target::Workload => vec![Task::Workload],
        Target::Processes(_) | Target::Threads(_) => {
            scene.threads.iter().copied().map(Task::Thread).collect()
        }
    }
}

/// The rings in the order in which the events' places first need them.
pub(super) fn rings(events: &[PlannedEvent]) -> Vec<RingKey> {
    let mut rings = Vec::new();
    for key in events
        .iter()
        .flat_map(|event| &event.places)
        .map(|&place| RingKey::of(place))
    {
        if !rings.contains(&key) {
            rings.push(key);
        }
    }
    rings
}
