//! An event that can be opened.

use super::{SampleTerms, UnknownBits};
use crate::sysfs::is_kernel_kind;
use oxperf_abi::{EventAttr, EventType, SoftwareId};
use std::sync::Arc;

/// What the letters behind an event say of guests and of their host. Whoever records guests decides by it, where the letters
/// do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SideLetters {
    /// There are no letters.
    #[default]
    Bare,
    /// There are letters, but neither `G` nor `H`.
    Unnamed,
    /// `G`, `H` or both.
    Named,
}

/// An event with everything that its text says about it.
#[derive(Clone, PartialEq, Debug)]
pub struct ResolvedEvent {
    /// Type, config words, excluded modes, precision, pinning, breakpoint. Period, sample fields and read format
    /// are the recorder's.
    pub attr: EventAttr,
    /// Bits of `attr.config` that its terms name, whatever their values.
    pub named_bits: u64,
    /// The bits of its config words that no format of its PMU covers, a word after the other.
    pub unknown_bits: Vec<UnknownBits>,
    /// perf's name for it.
    pub name: String,
    /// The name is that of a term `name=`.
    pub is_name_given: bool,
    /// The PMU's name, for messages: `cpu`, `software`, `tracepoint`, `breakpoint`.
    pub pmu: Arc<str>,
    /// The CPUs that the PMU counts on, as sysfs lists them; `None` for all.
    pub cpus: Option<Arc<str>>,
    /// The PMU counts for a part of the system and not for tasks: it is opened on those CPUs alone.
    pub of_system: bool,
    /// Index of the group's leader; `None` for an event that leads or stands alone.
    pub leader: Option<usize>,
    /// The group's name, on its leader.
    pub group_name: Option<String>,
    /// The group may be taken apart when it cannot be opened (`W`).
    pub weak_group: bool,
    /// The leader samples and the members are read with each sample (`S`).
    pub sample_read: bool,
    /// It is there for the other members of its group: `slots` for its metrics, `mem-loads-aux` for loads.
    pub is_auxiliary: bool,
    /// The precision is the highest that works (`P`).
    pub max_precise: bool,
    /// What its letters say of guests and host.
    pub side_letters: SideLetters,
    /// Samples tell the latency of retirement (`R`).
    pub retire_latency: bool,
    /// Its group is not to be rearranged (`X`).
    pub keep_order: bool,
    /// Its group is another one than was written, so that all members are of one PMU.
    pub regrouped: bool,
    /// A BPF program counts it for all who ask (`b`).
    pub bpf_counter: bool,
    /// The CPUs that `cpu=` names, as a list; `None` for all that the PMU counts on.
    pub wanted_cpus: Option<String>,
    /// The tracepoint behind it.
    pub tracepoint: Option<TracepointName>,
    /// The sampling that its terms ask for.
    pub terms: SampleTerms,
    /// The period at which a table of events advises to sample it. The user's period wins, and this wins over a frequency
    /// for all events.
    pub table_period: Option<u64>,
    /// It counts for a whole package.
    pub per_package: bool,
    /// The unit of its counts.
    pub unit: Option<Arc<str>>,
    /// The factor from a count to that unit.
    pub scale: Option<f64>,
}

/// A tracepoint's two names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracepointName {
    /// The system, `sched`.
    pub system: String,
    /// The event, `sched_switch`.
    pub event: String,
}

impl ResolvedEvent {
    /// An event that nothing is said about yet.
    pub(crate) fn new(name: String, pmu: Arc<str>) -> ResolvedEvent {
        ResolvedEvent {
            attr: EventAttr::default(),
            named_bits: 0,
            unknown_bits: Vec::new(),
            name,
            is_name_given: false,
            pmu,
            cpus: None,
            of_system: false,
            leader: None,
            group_name: None,
            weak_group: false,
            sample_read: false,
            is_auxiliary: false,
            max_precise: false,
            side_letters: SideLetters::default(),
            retire_latency: false,
            keep_order: false,
            regrouped: false,
            bpf_counter: false,
            wanted_cpus: None,
            tracepoint: None,
            terms: SampleTerms::default(),
            table_period: None,
            per_package: false,
            unit: None,
            scale: None,
        }
    }

    /// Returns whether the kernel counts it: the events of [`crate::tool`] and of sensors are read by the program itself.
    pub fn is_counted_by_kernel(&self) -> bool {
        is_kernel_kind(self.attr.kind)
    }

    /// Returns whether its PMU writes a trace in place of counting.
    pub fn is_traced(&self) -> bool {
        const BEGINNINGS: [&str; 5] = ["intel_pt", "intel_bts", "cs_etm", "arm_spe", "hisi_ptt"];
        BEGINNINGS.iter().any(|name| self.pmu.starts_with(name))
    }

    /// Adds CPUs to those that its terms name; `None` is all that its PMU counts on.
    pub(super) fn want_cpus(&mut self, cpus: Option<Arc<str>>) {
        let Some(cpus) = cpus.or_else(|| self.cpus.clone()) else {
            return;
        };
        self.wanted_cpus = Some(match self.wanted_cpus.take() {
            Some(before) => format!("{before},{cpus}"),
            None => cpus.to_string(),
        });
    }

    /// The software clocks count nanoseconds and are shown in milliseconds.
    pub(super) fn set_unit_of_clock(&mut self) {
        const CLOCKS: [u64; 2] = [SoftwareId::CpuClock as u64, SoftwareId::TaskClock as u64];
        if self.attr.kind == EventType::SOFTWARE && CLOCKS.contains(&self.attr.config) {
            self.unit = Some("msec".into());
            self.scale = Some(1e-6);
        }
    }
}
