//! From options and events to the list of what is to be opened: a pure function, equal on every machine.
//!
//! Refusals of the kernel change the inputs (see [`crate::fallback`]) and the plan is made again; a plan is never
//! patched.

mod counting;
mod sampling;
mod sites;
mod text;

use oxperf_abi::{Cpu, EventAttr, Tid};

use crate::event::EventRequest;
use crate::options::{SamplingOptions, Start, TargetOptions};
use crate::unsupported::Unsupported;

pub use sites::{OpenSite, RingKey, TargetTask};

/// The purpose of opening events.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Purpose<'a> {
    /// Their counts are read. No event takes samples and there are no rings.
    Counting,
    /// Their samples are recorded, with the records of tasks and mappings that explain them.
    Sampling(&'a SamplingOptions),
}

/// The planner's knowledge of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MachineInfo {
    /// The CPUs that are online, ascending.
    pub online: Vec<Cpu>,
    /// The threads of the target, when it names tasks.
    pub threads: Vec<Tid>,
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

/// All that a measurement opens.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The events in the order of the file.
    pub events: Vec<PlannedEvent>,
    /// The rings, one a CPU or one a task; none of a plan for counting.
    pub rings: Vec<RingKey>,
}

impl Plan {
    /// Plans what is opened for `requests`, without what the kernel does not support.
    pub fn new(
        target: &TargetOptions,
        purpose: Purpose<'_>,
        requests: &[EventRequest],
        machine: &MachineInfo,
        unsupported: Unsupported,
    ) -> Plan {
        match purpose {
            Purpose::Counting => Plan::for_counting(target, requests, machine),
            Purpose::Sampling(sampling) => {
                let attrs = sampling::Sampling {
                    target,
                    sampling,
                    unsupported,
                };
                Plan::for_sampling(attrs, requests, machine)
            }
        }
    }

    fn for_counting(
        target: &TargetOptions,
        requests: &[EventRequest],
        machine: &MachineInfo,
    ) -> Plan {
        let attrs = counting::attrs(target, requests);
        let events = requests
            .iter()
            .zip(attrs)
            .map(|(request, attr)| PlannedEvent {
                request: request.clone(),
                attr,
                sites: sites::for_counting(target, machine, request),
                tracking: false,
            });
        Plan {
            events: events.collect(),
            rings: Vec::new(),
        }
    }

    fn for_sampling(
        sampling: sampling::Sampling<'_>,
        requests: &[EventRequest],
        machine: &MachineInfo,
    ) -> Plan {
        let target = sampling.target;
        let requests = with_tracking(target, requests);
        let tracking = tracking_index(target, &requests);
        let attrs = sampling.attrs(&requests, tracking);
        let planned = requests.into_iter().zip(attrs).enumerate();
        let events: Vec<PlannedEvent> = planned
            .map(|(index, (request, attr))| PlannedEvent {
                sites: sites::for_sampling(target, machine, &request, index == tracking),
                request,
                attr,
                tracking: index == tracking,
            })
            .collect();
        let rings = sites::rings(&events);
        Plan { events, rings }
    }

    /// The index of the ring that takes the records of `site`.
    pub fn ring_of(&self, site: OpenSite) -> Option<usize> {
        self.rings.iter().position(|ring| ring.takes(site))
    }
}

/// Returns whether an event of its own has to carry the task and mapping records: the user's events may be off, or on
/// CPUs that do not see every task.
fn needs_dummy(target: &TargetOptions) -> bool {
    target.target.is_cpu_wide() || target.start != Start::Now
}

fn with_tracking(target: &TargetOptions, requests: &[EventRequest]) -> Vec<EventRequest> {
    let mut requests = requests.to_vec();
    if needs_dummy(target) {
        requests.push(EventRequest::tracking_dummy());
    }
    requests
}

fn tracking_index(target: &TargetOptions, requests: &[EventRequest]) -> usize {
    if needs_dummy(target) {
        requests.len().saturating_sub(1)
    } else {
        0
    }
}
