//! An event as the planner takes it: what to count, and what its own terms say about how.

mod resolved;

use std::sync::Arc;

use oxperf_abi::{AttrFlags, BranchSampleType, Cpu, EventAttr, EventType, SoftwareId};

use crate::cgroup::CountedCgroup;
use crate::options::{CallGraph, Rate};

use oxperf_pmu::SideLetters;

pub use oxperf_pmu::AuxAction;

/// The ways of an event with the hardware trace of its group's leader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AuxRequest {
    /// Bytes of trace in each sample.
    pub sample_size: Option<u32>,
    /// Samples go into the trace.
    pub output: Option<bool>,
    /// The event stops the trace or lets it go on.
    pub action: Option<AuxAction>,
    /// The event's PMU writes a trace.
    pub is_traced: bool,
    /// Bits of the attribute's `config` that the event's terms name, whatever their values: the others have defaults.
    pub named_bits: u64,
}

/// One event of a recording before it is planned.
#[derive(Clone, PartialEq, Debug)]
pub struct EventRequest {
    /// The name that the file keeps.
    pub name: String,
    /// Kind, config words, excluded modes, precision; the planner adds the rest.
    pub attr: EventAttr,
    /// The PMU's name, for messages.
    pub pmu: Arc<str>,
    /// System and event of a tracepoint.
    pub tracepoint: Option<(String, String)>,
    /// The index of the group's leader; `None` for an event that stands alone or leads.
    pub leader: Option<usize>,
    /// The group's name on its leader, when the user gave one.
    pub group_name: Option<String>,
    /// The group may be taken apart when it cannot be opened.
    pub weak_group: bool,
    /// It is there for the other members of its group, which sample in its place.
    pub is_auxiliary: bool,
    /// Only the leader samples; the members are read with each of its samples.
    pub sample_read: bool,
    /// The precision is the highest that works, not one that was asked for.
    pub max_precise: bool,
    /// What its letters say of guests and host.
    pub side_letters: SideLetters,
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
    /// The branches that each sample tells.
    pub branches: Option<BranchSampleType>,
    /// It was added to carry the records of tasks and mappings alone.
    pub tracks: bool,
    /// It was added to tell of the whole system, whatever the target: on all CPUs, from its opening on.
    pub watches_system: bool,
    /// The event's own ways with hardware trace.
    pub aux: AuxRequest,
    /// Samples tell the latency of retirement, which is what is shown of it where events are counted.
    pub retire_latency: bool,
    /// The latency of retirement that was published for it, in cycles.
    pub published_latency: Option<u64>,
    /// The period as a part of that of the event before, where both have one.
    pub ratio_to_previous: Option<f64>,
    /// The event's own choice of inheritance.
    pub inherit: Option<bool>,
    /// The event's own choice of its ring: `true` for one that keeps the newest records.
    pub overwrite: Option<bool>,
    /// The counts of the CPUs of a core are added up where CPUs are shown apart.
    pub per_core: bool,
    /// The CPUs that the event's PMU counts on and the user names, when not all.
    pub cpus: Option<Vec<Cpu>>,
    /// The CPUs that the user names for this event, whatever the target.
    pub chosen_cpus: Option<Vec<Cpu>>,
    /// What the fields of a tracepoint must hold for it to be counted, or the addresses that a trace covers, in the kernel's
    /// notation.
    pub filter: Option<String>,
    /// The control group whose tasks alone are counted.
    pub cgroup: Option<CountedCgroup>,
    /// The PMU counts for a part of the system and not for tasks: it is opened on those CPUs whatever the target.
    pub of_system: bool,
    /// Unit of the counts, `msec` of a clock.
    pub unit: Option<Arc<str>>,
    /// The factor from a count to `unit`.
    pub scale: Option<f64>,
    /// The name by which metrics know it, where that is another one.
    pub metric_id: Option<String>,
}

impl AuxRequest {
    /// Returns whether it needs a trace of its group's leader to act on.
    pub fn acts_on_a_trace(self) -> bool {
        self.output.is_some() || matches!(self.action, Some(AuxAction::Pause | AuxAction::Resume))
    }
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
            pmu: "software".into(),
            tracepoint: None,
            leader: None,
            group_name: None,
            weak_group: false,
            sample_read: false,
            is_auxiliary: false,
            max_precise: false,
            side_letters: SideLetters::default(),
            rate: None,
            usual_period: None,
            call_graph: None,
            max_stack: None,
            time: None,
            branches: None,
            tracks: false,
            watches_system: false,
            aux: AuxRequest::default(),
            retire_latency: false,
            published_latency: None,
            ratio_to_previous: None,
            inherit: None,
            overwrite: None,
            per_core: false,
            cpus: None,
            chosen_cpus: None,
            filter: None,
            cgroup: None,
            of_system: false,
            unit: None,
            scale: None,
            metric_id: None,
        }
    }

    /// The event that counts nothing and only carries task and mapping records.
    pub(crate) fn tracking_dummy() -> EventRequest {
        let mut dummy = EventRequest::software(SoftwareId::Dummy, "dummy:u");
        dummy.attr.flags =
            AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV | AttrFlags::EXCLUDE_GUEST;
        dummy.tracks = true;
        dummy
    }

    /// Takes one more filter, beside those that there are: a tracepoint's conditions must all hold, those of addresses are a
    /// list.
    pub fn add_filter(&mut self, filter: &str) {
        self.filter = Some(match self.filter.take() {
            Some(before) if self.is_tracepoint() => format!("({before}) && ({filter})"),
            Some(before) => format!("{before},{filter}"),
            None => filter.to_owned(),
        });
    }

    /// System and event of a tracepoint.
    pub(crate) fn tracepoint(&self) -> Option<(&str, &str)> {
        self.tracepoint
            .as_ref()
            .map(|(system, event)| (system.as_str(), event.as_str()))
    }

    /// Returns whether the kernel counts it: facts about the machine and sensors are read by whoever counts.
    pub fn is_counted_by_kernel(&self) -> bool {
        oxperf_pmu::is_kernel_kind(self.attr.kind)
    }

    /// Returns whether whoever counts reads it by itself: what no kernel counts, and latencies.
    pub(crate) fn is_read_here(&self) -> bool {
        self.retire_latency || !self.is_counted_by_kernel()
    }

    /// Returns whether it counts nothing and only carries other records.
    pub(crate) fn is_dummy(&self) -> bool {
        self.is_software(SoftwareId::Dummy)
    }

    /// Returns whether it tells when threads cease to run, which becomes their time off the CPU.
    pub(crate) fn is_off_cpu(&self) -> bool {
        self.is_software(SoftwareId::ContextSwitches)
            && self.attr.flags.contains(AttrFlags::CONTEXT_SWITCH)
    }

    /// Returns whether it is a trace of what runs in the kernel.
    pub(crate) fn traces_kernel_alone(&self) -> bool {
        self.aux.is_traced && self.attr.flags.contains(AttrFlags::EXCLUDE_USER)
    }

    /// Returns whether it tells how the kernel's code changes.
    pub(crate) fn is_text_poke(&self) -> bool {
        self.is_dummy() && self.attr.flags.contains(AttrFlags::TEXT_POKE)
    }

    /// Returns whether every sample carries data of its own: a tracepoint's record, or what a BPF program wrote.
    pub(crate) fn carries_data(&self) -> bool {
        self.is_tracepoint() || self.is_software(SoftwareId::BpfOutput)
    }

    /// Returns whether each event is of interest by itself, so that all are sampled unless the user says otherwise.
    pub(crate) fn is_occurrence(&self) -> bool {
        let is_breakpoint = self.attr.kind == EventType::BREAKPOINT && self.attr.bp_type != 0;
        self.carries_data() || is_breakpoint
    }

    fn is_software(&self, id: SoftwareId) -> bool {
        self.attr.kind == EventType::SOFTWARE && self.attr.config == id as u64
    }

    /// Returns whether a sample carries a tracepoint's record. One that is named by its number alone is counted as any
    /// other event.
    pub(crate) fn is_tracepoint(&self) -> bool {
        self.tracepoint.is_some()
    }
}
