//! From options and events to the list of what is to be opened: a pure function, equal on every machine.
//!
//! Refusals of the kernel change the inputs (see [`crate::fallback`]) and the plan is made again; a plan is never
//! patched.

mod counting;
mod sampling;
mod sites;
mod text;

use oxperf_abi::{AttrFlags, Cpu, EventAttr, Tid};

use crate::event::EventRequest;
use crate::off_cpu;
use crate::options::{SamplingOptions, Start, TargetOptions};
use crate::unsupported::Unsupported;

pub use sites::{OpenSite, RingKey, RingKind, TargetTask, counting_cpus};

/// The purpose of opening events.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Purpose<'a> {
    /// Their counts are read. No event takes samples and there are no rings.
    Counting,
    /// Their samples are recorded, with the records of tasks and mappings that explain them.
    Sampling(&'a SamplingOptions),
}

/// The events of a plan: those that are opened, and those that were to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Requests<'a> {
    /// The events to open.
    pub kept: &'a [EventRequest],
    /// Events that the kernel refused. They are not opened; the ids of samples are those of a recording of all.
    pub removed: &'a [EventRequest],
}

impl<'a> From<&'a [EventRequest]> for Requests<'a> {
    fn from(kept: &'a [EventRequest]) -> Requests<'a> {
        Requests { kept, removed: &[] }
    }
}

impl<'a> From<&'a Vec<EventRequest>> for Requests<'a> {
    fn from(kept: &'a Vec<EventRequest>) -> Requests<'a> {
        kept.as_slice().into()
    }
}

impl<'a, const N: usize> From<&'a [EventRequest; N]> for Requests<'a> {
    fn from(kept: &'a [EventRequest; N]) -> Requests<'a> {
        kept.as_slice().into()
    }
}

/// The planner's knowledge of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MachineInfo {
    /// The CPUs that are online, ascending.
    pub online: Vec<Cpu>,
    /// The threads of the target, when it names tasks.
    pub threads: Vec<Tid>,
    /// There are several kinds of cores, and events that count on one of them alone.
    pub is_hybrid: bool,
}

/// An event with its complete attribute and the sites where it is opened.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedEvent {
    /// The request.
    pub request: EventRequest,
    /// The attribute as the kernel gets it.
    pub attr: EventAttr,
    /// The sites where it is opened, CPU by CPU and there task by task.
    pub sites: Vec<OpenSite>,
    /// `true` if this event carries the task and mapping records.
    pub tracking: bool,
}

impl PlannedEvent {
    /// The attribute that readers see.
    pub(crate) fn recorded_attr(&self) -> EventAttr {
        match self.request.is_off_cpu() {
            true => off_cpu::recorded_attr(&self.attr),
            false => self.attr,
        }
    }

    /// The name that readers see.
    pub(crate) fn recorded_name(&self) -> &str {
        match self.request.is_off_cpu() {
            true => off_cpu::NAME,
            false => &self.request.name,
        }
    }

    /// Returns whether it counts nothing and is there for the records of tasks, or of the kernel's code, alone.
    pub(crate) fn carries_only_other_records(&self) -> bool {
        self.request.watches_system || self.request.is_dummy() && self.tracking
    }

    /// The kind of the rings that take its records: the kernel lets no ring be of both.
    pub fn ring_kind(&self) -> RingKind {
        if self.attr.flags.contains(AttrFlags::WRITE_BACKWARD) {
            RingKind::Backward
        } else {
            RingKind::Forward
        }
    }
}

/// All that a measurement opens.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The events in the order of the file.
    pub events: Vec<PlannedEvent>,
    /// The owners of rings, one a CPU or one a task; none of a plan for counting. Each has a ring of every kind that its
    /// events want.
    pub rings: Vec<RingKey>,
}

impl Plan {
    /// Plans what is opened for `requests`, without what the kernel does not support.
    pub fn new<'a>(
        target: &TargetOptions,
        purpose: Purpose<'_>,
        requests: impl Into<Requests<'a>>,
        machine: &MachineInfo,
        unsupported: Unsupported,
    ) -> Plan {
        let requests = requests.into();
        match purpose {
            Purpose::Counting => Plan::for_counting(target, requests.kept.to_vec(), machine),
            Purpose::Sampling(sampling) => {
                let attrs = sampling::Sampling {
                    target,
                    sampling,
                    unsupported,
                    tracks_apart: tracks_apart(target, machine) || sampling.traced.is_some(),
                    is_hybrid: machine.is_hybrid,
                };
                Plan::for_sampling(attrs, requests, machine)
            }
        }
    }

    /// Plans what is opened to count `requests`.
    pub(crate) fn for_counting(
        target: &TargetOptions,
        requests: Vec<EventRequest>,
        machine: &MachineInfo,
    ) -> Plan {
        let attrs = counting::attrs(target, &requests);
        let events = requests
            .into_iter()
            .zip(attrs)
            .map(|(request, attr)| PlannedEvent {
                sites: sites::for_counting(target, machine, &request),
                request,
                attr,
                tracking: false,
            });
        Plan {
            events: events.collect(),
            rings: Vec::new(),
        }
    }

    fn for_sampling(
        sampling: sampling::Sampling<'_>,
        requests: Requests<'_>,
        machine: &MachineInfo,
    ) -> Plan {
        let target = sampling.target;
        let (kept, tracking) = with_tracking(requests.kept, sampling.tracks_apart);
        let attrs = sampling.attrs(&kept, requests.removed, tracking);
        // What runs in the kernel is named by the kernel, on whatever CPU a task came from.
        let watches_migration = !kept.iter().any(EventRequest::traces_kernel_alone);
        let planned = kept.into_iter().zip(attrs).enumerate();
        let events: Vec<PlannedEvent> = planned
            .map(|(index, (request, attr))| PlannedEvent {
                sites: sites::for_sampling(
                    target,
                    machine,
                    &request,
                    tracking.is_added(index) && watches_migration,
                ),
                request,
                attr,
                tracking: tracking.is(index),
            })
            .collect();
        let rings = sites::rings(&events);
        Plan { events, rings }
    }

    /// Returns whether the rings of an owner take records of the target, as opposed to those of the whole system alone.
    pub(crate) fn is_of_target(&self, key: RingKey) -> bool {
        let mut events = self.events.iter();
        events.any(|event| {
            !event.request.watches_system && event.sites.iter().any(|&site| key.takes(site))
        })
    }

    /// The index of the owner of the rings that take the records of `site`.
    pub fn ring_of(&self, site: OpenSite) -> Option<usize> {
        self.rings.iter().position(|ring| ring.takes(site))
    }
}

/// The event that carries the records of tasks and mappings, by its index in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tracking {
    /// An event of the user does.
    Asked(usize),
    /// One that the planner added does that alone.
    Added(usize),
}

impl Tracking {
    fn is(self, index: usize) -> bool {
        let (Tracking::Asked(own) | Tracking::Added(own)) = self;
        own == index
    }

    fn is_added(self, index: usize) -> bool {
        self == Tracking::Added(index)
    }
}

/// Returns whether the event that carries the task and mapping records has to run on its own: the user's events may be
/// off, or on CPUs that do not see every task.
fn tracks_apart(target: &TargetOptions, machine: &MachineInfo) -> bool {
    target.target.is_cpu_wide() || target.start != Start::Now || machine.is_hybrid
}

/// The events with the one that tracks, which may be there already. A dummy that the user names first counts nothing either and takes its place.
fn with_tracking(requests: &[EventRequest], tracks_apart: bool) -> (Vec<EventRequest>, Tracking) {
    let mut requests = requests.to_vec();
    if let Some(place) = requests.iter().position(|request| request.tracks) {
        return (requests, Tracking::Added(place));
    }
    let has_own = requests.first().is_some_and(EventRequest::is_dummy);
    if has_own || !tracks_apart {
        return (requests, Tracking::Asked(0));
    }
    requests.push(EventRequest::tracking_dummy());
    let added = Tracking::Added(requests.len() - 1);
    (requests, added)
}
