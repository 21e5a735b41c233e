//! An event as the planner takes it: what to count, and what its own terms say about how.

mod resolved;

use oxperf_abi::{AttrFlags, Cpu, EventAttr, EventType, SoftwareId};

use crate::options::{CallGraph, Rate};

pub use resolved::UnsupportedTerm;

/// One event of a recording before it is planned.
#[derive(Clone, PartialEq, Debug)]
pub struct EventRequest {
    /// The name that the file keeps.
    pub name: String,
    /// Kind, config words, excluded modes, precision; the planner adds the rest.
    pub attr: EventAttr,
    /// The PMU's name, for messages.
    pub pmu: String,
    /// System and event of a tracepoint.
    pub tracepoint: Option<(String, String)>,
    /// The index of the group's leader; `None` for an event that stands alone or leads.
    pub leader: Option<usize>,
    /// The group's name on its leader, when the user gave one.
    pub group_name: Option<String>,
    /// The group may be taken apart when it cannot be opened.
    pub weak_group: bool,
    /// Only the leader samples; the members are read with each of its samples.
    pub sample_read: bool,
    /// The precision is the highest that works, not one that was asked for.
    pub max_precise: bool,
    /// The event's own rate.
    pub rate: Option<Rate>,
    /// The period that it is sampled at unless the event or the user names another; a frequency is no such.
    pub usual_period: Option<u64>,
    /// The event's own choice of call chains.
    pub call_graph: Option<CallGraph>,
    /// The event's own limit of call-chain entries.
    pub max_stack: Option<u16>,
    /// The event's own choice of times.
    pub time: Option<bool>,
    /// The event's own choice of inheritance.
    pub inherit: Option<bool>,
    /// The CPUs that the event's PMU counts on, when not all.
    pub cpus: Option<Vec<Cpu>>,
    /// Unit of the counts, `msec` of a clock.
    pub unit: Option<String>,
    /// The factor from a count to `unit`.
    pub scale: Option<f64>,
}

impl EventRequest {
    /// A software event with nothing special.
    pub fn software(id: SoftwareId, name: &str) -> EventRequest {
        let attr = EventAttr {
            kind: EventType::SOFTWARE,
            config: id as u64,
            ..EventAttr::default()
        };
        EventRequest {
            name: name.to_owned(),
            attr,
            pmu: "software".to_owned(),
            tracepoint: None,
            leader: None,
            group_name: None,
            weak_group: false,
            sample_read: false,
            max_precise: false,
            rate: None,
            usual_period: None,
            call_graph: None,
            max_stack: None,
            time: None,
            inherit: None,
            cpus: None,
            unit: None,
            scale: None,
        }
    }

    /// The event that counts nothing and only carries task and mapping records.
    pub(crate) fn tracking_dummy() -> EventRequest {
        let mut dummy = EventRequest::software(SoftwareId::Dummy, "dummy:u");
        dummy.attr.flags =
            AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV | AttrFlags::EXCLUDE_GUEST;
        dummy
    }

    /// System and event of a tracepoint.
    pub(crate) fn tracepoint(&self) -> Option<(&str, &str)> {
        self.tracepoint
            .as_ref()
            .map(|(system, event)| (system.as_str(), event.as_str()))
    }

    /// Returns whether it counts nothing and only carries other records.
    pub(crate) fn is_dummy(&self) -> bool {
        self.is_software(SoftwareId::Dummy)
    }

    /// Returns whether every sample carries data of its own: a tracepoint's record, or what a BPF program wrote.
    pub(crate) fn carries_data(&self) -> bool {
        self.is_tracepoint() || self.is_software(SoftwareId::BpfOutput)
    }

    /// Returns whether each event is of interest by itself, so that all are sampled unless the user says otherwise.
    pub(crate) fn is_occurrence(&self) -> bool {
        self.carries_data() || self.attr.kind == EventType::BREAKPOINT
    }

    fn is_software(&self, id: SoftwareId) -> bool {
        self.attr.kind == EventType::SOFTWARE && self.attr.config == id as u64
    }

    /// Returns whether a sample carries a tracepoint's record.
    pub(crate) fn is_tracepoint(&self) -> bool {
        self.attr.kind == EventType::TRACEPOINT
    }
}
