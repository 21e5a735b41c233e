//! From options and events to the list of what is to be opened: a pure function, the same on every machine.
//!
//! What the kernel refuses changes the inputs (see [`crate::fallback`]) and the plan is made again; a plan is never
//! patched.

mod attr;
mod places;
mod text;

use oxperf_abi::{Cpu, EventAttr, Tid};

use crate::event::EventRequest;
use crate::missing::Missing;
use crate::options::{RecordOptions, Start};

pub use places::{Place, RingKey, Task};

/// What the planner knows of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scene {
    /// The CPUs that are online, ascending.
    pub online: Vec<Cpu>,
    /// The threads of the target, when it names tasks.
    pub threads: Vec<Tid>,
}

/// An event with its complete attribute and the places where it is opened.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedEvent {
    /// What was asked for.
    pub request: EventRequest,
    /// The attribute as the kernel gets it.
    pub attr: EventAttr,
    /// Where it is opened, CPU by CPU and there task by task.
    pub places: Vec<Place>,
    /// Whether this event carries the task and mapping records.
    pub tracking: bool,
}

/// All that a recording opens.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The events in the order of the file.
    pub events: Vec<PlannedEvent>,
    /// The rings, one a CPU or one a task.
    pub rings: Vec<RingKey>,
}

impl Plan {
    /// Plans the recording of `requests`.
    pub fn new(
        options: &RecordOptions,
        requests: &[EventRequest],
        scene: &Scene,
        missing: Missing,
    ) -> Plan {
        let requests = with_tracking(options, requests);
        let tracking = tracking_index(options, &requests);
        let attrs = attr::attrs(options, &requests, tracking, missing);
        let events: Vec<PlannedEvent> = requests
            .into_iter()
            .zip(attrs)
            .enumerate()
            .map(|(index, (request, attr))| PlannedEvent {
                places: places::places(options, scene, &request, index == tracking),
                request,
                attr,
                tracking: index == tracking,
            })
            .collect();
        let rings = places::rings(&events);
        Plan { events, rings }
    }

    /// The ring that takes the records of `place`.
    pub fn ring_of(&self, place: Place) -> Option<usize> {
        self.rings.iter().position(|ring| ring.takes(place))
    }
}

/// Whether an event of its own has to carry the task and mapping records: the user's events may be off, or on CPUs
/// that do not see every task.
fn needs_dummy(options: &RecordOptions) -> bool {
    options.target.is_cpu_wide() || options.start != Start::Now
}

fn with_tracking(options: &RecordOptions, requests: &[EventRequest]) -> Vec<EventRequest> {
    let mut requests = requests.to_vec();
    if needs_dummy(options) {
        requests.push(EventRequest::tracking_dummy());
    }
    requests
}

fn tracking_index(options: &RecordOptions, requests: &[EventRequest]) -> usize {
    if needs_dummy(options) {
        requests.len().saturating_sub(1)
    } else {
        0
    }
}
