//! The attribute of each event that is sampled: its rate, the fields of a sample, the other records that it carries, its
//! beginning.

use oxperf_abi::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleType};

use super::Tracking;
use crate::event::{AuxAction, EventRequest};
use crate::off_cpu;
use crate::options::{
    CallGraph, ExtraRecords, Privilege, Rate, SamplingOptions, Start, Target, TargetOptions,
};
use crate::registers::RegisterMask;
use crate::unsupported::{KernelFeature, Unsupported};

/// The inputs that the attributes of all events have in common.
#[derive(Clone, Copy)]
pub(super) struct Sampling<'a> {
    pub(super) target: &'a TargetOptions,
    pub(super) sampling: &'a SamplingOptions,
    pub(super) unsupported: Unsupported,
    /// The event that carries task and mapping records runs on its own.
    pub(super) tracks_apart: bool,
    /// There are several kinds of cores.
    pub(super) is_hybrid: bool,
}

impl Sampling<'_> {
    /// The attributes of `requests`, in their order; the event of `tracking` carries task and mapping records. Samples
    /// are identified as if those that were `removed` were among them.
    pub(super) fn attrs(
        self,
        requests: &[EventRequest],
        removed: &[EventRequest],
        tracking: Tracking,
    ) -> Vec<EventAttr> {
        let has_text_poke = requests.iter().any(EventRequest::is_text_poke);
        let has_members = |index| requests.iter().any(|other| other.leader == Some(index));
        let attr = |(index, request): (usize, &EventRequest)| {
            let builder = Builder {
                common: self,
                request,
                tracking: tracking.is(index),
                added: tracking.is_added(index) || request.watches_system,
                has_text_poke,
                grouped: request.leader.is_some() || has_members(index),
                samples: samples(requests, index),
            };
            builder.build()
        };
        let mut attrs: Vec<EventAttr> = requests
            .iter()
            .chain(removed)
            .enumerate()
            .map(attr)
            .collect();
        follow_leaders(&mut attrs, requests);
        set_ratios(&mut attrs, requests);
        match self.sampling.traced {
            // A decoder takes samples of all events by their ids.
            Some(_) => attrs
                .iter_mut()
                .for_each(|attr| attr.sample_type |= SampleType::IDENTIFIER),
            None => identify_samples(&mut attrs),
        }
        attrs.truncate(requests.len());
        attrs
    }
}

/// What is read with the samples of its leader has samples of the same shape.
fn follow_leaders(attrs: &mut [EventAttr], requests: &[EventRequest]) {
    for (index, request) in requests.iter().enumerate() {
        let leader = request.leader.filter(|_| request.sample_read);
        let of_leader = leader.and_then(|leader| attrs.get(leader));
        if let Some(sample_type) = of_leader.map(|attr| attr.sample_type) {
            attrs[index].sample_type = sample_type;
        }
    }
}

/// Of a group whose members are read with each sample one takes samples: the leader, or the first member behind one that
/// is there for the others alone.
fn samples(requests: &[EventRequest], index: usize) -> bool {
    let Some(request) = requests.get(index).filter(|request| request.sample_read) else {
        return true;
    };
    let leader = request.leader.unwrap_or(index);
    let mut members = (0..requests.len())
        .filter(|place| *place == leader || requests[*place].leader == Some(leader));
    let sampler = members.find(|place| !requests[*place].is_auxiliary);
    sampler.unwrap_or(leader) == index
}

/// Periods that are parts of the period of the event before.
fn set_ratios(attrs: &mut [EventAttr], requests: &[EventRequest]) {
    for (index, request) in requests.iter().enumerate().skip(1) {
        let (before, own) = attrs.split_at_mut(index);
        let (Some(before), Some(own), Some(ratio)) =
            (before.last(), own.first_mut(), request.ratio_to_previous)
        else {
            continue;
        };
        let has_period = |attr: &EventAttr| !attr.flags.contains(AttrFlags::FREQ);
        if has_period(before) && has_period(own) {
            own.sample_period = (before.sample_period as f64 * ratio) as u64;
        }
    }
}

/// With several events a sample names the one it belongs to: where samples differ in shape, at a position that does
/// not depend on the shape. One that is read with its samples names itself always.
fn identify_samples(attrs: &mut [EventAttr]) {
    let [first, rest @ ..] = &*attrs else { return };
    if rest.is_empty() && !first.sample_type.contains(SampleType::READ) {
        return;
    }
    let alike = rest
        .iter()
        .all(|attr| attr.sample_type == first.sample_type);
    let field = if alike {
        SampleType::ID
    } else {
        SampleType::IDENTIFIER
    };
    attrs.iter_mut().for_each(|attr| attr.sample_type |= field);
}

struct Builder<'a> {
    common: Sampling<'a>,
    request: &'a EventRequest,
    /// It carries the records of tasks and mappings.
    tracking: bool,
    /// It was added to carry other records, as opposed to the user's first one.
    added: bool,
    /// Another event tells how the kernel's code changes, and carries the records of its symbols.
    has_text_poke: bool,
    /// It leads others, or follows one.
    grouped: bool,
    /// It takes samples, as opposed to being read with those of another.
    samples: bool,
}

impl Builder<'_> {
    fn build(&self) -> EventAttr {
        let mut attr = self.request.attr;
        self.set_rate(&mut attr);
        self.set_aux(&mut attr);
        attr.sample_type |= self.sample_type();
        attr.read_format = self.read_format();
        attr.sample_max_stack = self.max_stack();
        attr.wakeup_events = u32::from(self.common.sampling.unbuffered);
        if self.interrupts() && !self.request.is_off_cpu() {
            self.set_branches(&mut attr);
        }
        if !self.added {
            self.set_call_graph(&mut attr);
        }
        if self.interrupts() {
            self.set_registers(&mut attr);
        }
        self.set_clock(&mut attr);
        self.set_privilege(&mut attr.flags);
        self.set_start(&mut attr.flags);
        attr.flags.set(AttrFlags::INHERIT, self.inherits());
        attr.flags
            .set(AttrFlags::INHERIT_STAT, self.records().thread_counts);
        attr.flags.set(AttrFlags::SAMPLE_ID_ALL, true);
        let keeps_newest = self
            .request
            .overwrite
            .unwrap_or(self.common.sampling.overwrite);
        attr.flags.set(AttrFlags::WRITE_BACKWARD, keeps_newest);
        if self.tracking {
            attr.flags |= self.tracking_flags();
        }
        if self.request.is_text_poke() {
            self.set_text_poke(&mut attr.flags);
        }
        attr
    }

    /// Its samples are of moments in which something ran: a trace has none, nor has what carries other records.
    fn interrupts(&self) -> bool {
        !self.added && !self.request.aux.is_traced
    }

    /// It is of a recording with a trace, and tells of the CPUs that have one.
    fn tells_of_trace(&self) -> bool {
        let watches_switches = self.request.watches_system && !self.request.is_text_poke();
        let has_part = self.tracking || self.request.aux.is_traced || watches_switches;
        self.common.sampling.traced.is_some() && has_part && !self.common.target.follows_tasks()
    }

    fn set_text_poke(&self, flags: &mut AttrFlags) {
        flags.set(AttrFlags::TEXT_POKE, self.may_have(KernelFeature::TextPoke));
        flags.set(AttrFlags::KSYMBOL, self.may_have(KernelFeature::Ksymbol));
    }

    fn set_clock(&self, attr: &mut EventAttr) {
        if let Some(clock) = self.common.sampling.clock {
            attr.flags.set(AttrFlags::USE_CLOCKID, true);
            attr.clockid = clock.id();
        }
    }

    /// Threads cease to run in the kernel, whatever part of their stacks is wanted.
    fn set_privilege(&self, flags: &mut AttrFlags) {
        let privilege = self.common.target.privilege;
        if self.request.is_off_cpu() {
            let user_only = privilege == Privilege::UserOnly;
            flags.set(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL, user_only);
        } else {
            privilege.apply(flags);
        }
    }

    fn rate(&self) -> Rate {
        let for_all = self.common.sampling.rate;
        let period_for_all = for_all.filter(|rate| matches!(rate, Rate::Period(_)));
        let usual = self.request.usual_period.map(Rate::Period);
        let own = self.request.rate.or(period_for_all).or(usual);
        let given = own.or(for_all);
        let takes_all = self.request.is_occurrence() || !self.interrupts();
        given.unwrap_or(if takes_all {
            Rate::Period(1)
        } else {
            Rate::DEFAULT
        })
    }

    fn set_rate(&self, attr: &mut EventAttr) {
        if !self.samples && !self.has_own_rate() {
            return;
        }
        match self.rate() {
            Rate::Frequency(hertz) => {
                attr.sample_period = hertz;
                attr.flags.set(AttrFlags::FREQ, true);
            }
            Rate::Period(events) => attr.sample_period = events,
        }
        if !self.common.sampling.takes_samples {
            attr.sample_period = 0;
        }
    }

    fn has_own_rate(&self) -> bool {
        self.request.rate.is_some() || self.request.usual_period.is_some()
    }

    fn sample_type(&self) -> SampleType {
        let carries_data = self.request.carries_data();
        let mut fields = SampleType::IP | SampleType::TID;
        fields.set(
            SampleType::TIME,
            self.request
                .time
                .unwrap_or(!self.common.target.follows_tasks() || carries_data),
        );
        fields.set(
            SampleType::CPU,
            self.common.target.target.is_cpu_wide() || carries_data || self.tells_of_trace(),
        );
        fields.set(SampleType::RAW, carries_data);
        let varies = matches!(self.rate(), Rate::Frequency(_));
        let without_own_rate = carries_data && self.request.rate.is_none();
        fields.set(SampleType::PERIOD, varies || without_own_rate);
        fields.set(SampleType::CALLCHAIN, self.call_graph() != CallGraph::Off);
        fields.set(SampleType::READ, self.request.sample_read);
        fields.set(SampleType::WEIGHT_STRUCT, self.request.retire_latency);
        // A copy of a stack points to data.
        let copies_stack = matches!(self.request.call_graph, Some(CallGraph::Dwarf { .. }));
        if copies_stack {
            fields |= SampleType::ADDR | SampleType::DATA_SRC;
        }
        let sampling = self.common.sampling;
        let tells_moments = self.tracking && self.common.sampling.traced.is_some();
        let left_out = match carries_data || tells_moments {
            // What an event tells of a moment always has the moment.
            true => sampling.left_out.without(SampleType::TIME),
            false => sampling.left_out,
        };
        let mut asked = sampling.fields;
        asked.set(
            SampleType::RAW,
            asked.contains(SampleType::RAW) && self.interrupts(),
        );
        self.with_known_weight((fields | asked).without(left_out))
    }

    /// The latencies of a sample where the kernel has them, else their sum.
    fn with_known_weight(&self, mut fields: SampleType) -> SampleType {
        let is_known = self.may_have(KernelFeature::WeightStruct);
        if fields.contains(SampleType::WEIGHT_STRUCT) && !is_known {
            fields = fields.without(SampleType::WEIGHT_STRUCT) | SampleType::WEIGHT;
        }
        fields
    }

    fn call_graph(&self) -> CallGraph {
        // Where a trace begins is sampled with callers only if its own terms ask for them.
        if self.added || !self.interrupts() && self.request.call_graph.is_none() {
            return CallGraph::Off;
        }
        let chosen = self
            .request
            .call_graph
            .unwrap_or(self.common.sampling.call_graph);
        match chosen {
            CallGraph::Off | CallGraph::BranchRecords if self.request.is_off_cpu() => {
                CallGraph::FramePointers { max_stack: None }
            }
            // Threads may cease to run at any rate.
            CallGraph::Dwarf { stack_size } if self.request.is_off_cpu() => CallGraph::Dwarf {
                stack_size: stack_size.min(off_cpu::LARGEST_COPY),
            },
            chosen => chosen,
        }
    }

    /// What counts nothing branches nowhere.
    fn set_branches(&self, attr: &mut EventAttr) {
        if let Some(branches) = self.request.branches.or(self.common.sampling.branches) {
            attr.branch_sample_type = branches;
            let counts = !self.request.is_dummy();
            attr.sample_type.set(SampleType::BRANCH_STACK, counts);
        }
    }

    /// Sets what is needed to find callers that the kernel does not find: a copy of the stack, or the CPU's records.
    fn set_call_graph(&self, attr: &mut EventAttr) {
        let parts = self.common.sampling.chain_parts;
        let has_chains = self.call_graph() != CallGraph::Off;
        attr.flags.set(
            AttrFlags::EXCLUDE_CALLCHAIN_KERNEL,
            has_chains && !parts.kernel,
        );
        attr.flags
            .set(AttrFlags::EXCLUDE_CALLCHAIN_USER, has_chains && !parts.user);
        match self.call_graph() {
            CallGraph::Off => {}
            CallGraph::FramePointers { .. } => {
                let deferred = parts.deferred && self.may_have(KernelFeature::DeferredChains);
                attr.flags.set(AttrFlags::DEFER_CALLCHAIN, deferred);
                attr.flags
                    .set(AttrFlags::DEFER_OUTPUT, deferred && self.tracking);
            }
            CallGraph::Dwarf { stack_size } => {
                attr.sample_type |= SampleType::STACK_USER;
                attr.sample_stack_user = stack_size;
                attr.flags.set(AttrFlags::EXCLUDE_CALLCHAIN_USER, true);
            }
            CallGraph::BranchRecords => {
                attr.sample_type |= SampleType::BRANCH_STACK;
                attr.branch_sample_type = BranchSampleType::USER
                    | BranchSampleType::CALL_STACK
                    | BranchSampleType::NO_FLAGS
                    | BranchSampleType::NO_CYCLES
                    | BranchSampleType::HW_INDEX;
            }
        }
    }

    /// Trace in samples, samples in the trace, and what stops the trace.
    fn set_aux(&self, attr: &mut EventAttr) {
        let aux = self.request.aux;
        if let Some(size) = aux.sample_size.filter(|size| *size > 0) {
            attr.sample_type |= SampleType::AUX;
            attr.aux_sample_size = size;
        }
        if aux.output == Some(true) {
            attr.flags.set(AttrFlags::AUX_OUTPUT, true);
        }
        attr.aux_action = match aux.action {
            None => 0,
            Some(AuxAction::StartPaused) => 1,
            Some(AuxAction::Pause) => 1 << 1,
            Some(AuxAction::Resume) => 1 << 2,
        };
    }

    fn set_registers(&self, attr: &mut EventAttr) {
        let sampling = self.common.sampling;
        // What counts nothing interrupts nothing.
        let counts = !self.request.is_dummy();
        let asked = sampling.user_registers.filter(|_| counts);
        attr.sample_regs_user = match self.call_graph() {
            CallGraph::Dwarf { .. } => RegisterMask::for_unwinding(asked),
            _ => asked.map_or(0, |asked| asked.0),
        };
        let interrupted = sampling.interrupted_registers.filter(|_| counts);
        attr.sample_regs_intr = interrupted.map_or(0, |asked| asked.0);
        attr.sample_type
            .set(SampleType::REGS_USER, attr.sample_regs_user != 0);
        attr.sample_type
            .set(SampleType::REGS_INTR, attr.sample_regs_intr != 0);
    }

    fn max_stack(&self) -> u16 {
        match self.call_graph() {
            CallGraph::FramePointers { max_stack } => {
                self.request.max_stack.or(max_stack).unwrap_or(0)
            }
            CallGraph::Off | CallGraph::Dwarf { .. } | CallGraph::BranchRecords => {
                self.request.max_stack.unwrap_or(0)
            }
        }
    }

    fn may_have(&self, feature: KernelFeature) -> bool {
        self.common.unsupported.may_have(feature)
    }

    fn records(&self) -> ExtraRecords {
        self.common.sampling.records
    }

    fn read_format(&self) -> ReadFormat {
        let mut format = ReadFormat::ID;
        if self.records().thread_counts || self.common.sampling.count_times {
            format |= ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
        }
        format.set(ReadFormat::LOST, self.may_have(KernelFeature::ReadLost));
        let reads_others = self.request.sample_read && self.grouped;
        format.set(ReadFormat::GROUP, reads_others);
        format
    }

    /// Group members follow their leader. The event that tracks tasks apart counts from exec where the others wait for a
    /// delay, else from its opening, as does the one that tells how the kernel's code changes.
    fn set_start(&self, flags: &mut AttrFlags) {
        if self.request.watches_system {
            return;
        }
        let target = self.common.target;
        let (disabled, on_exec) = if self.tracking && self.common.tracks_apart {
            let waits = self.tracking_waits();
            (waits, waits && target.target == Target::Workload)
        } else {
            let leads = self.request.leader.is_none();
            (leads, leads && self.common.target.starts_on_exec())
        };
        flags.set(AttrFlags::DISABLED, disabled);
        flags.set(AttrFlags::ENABLE_ON_EXEC, on_exec);
    }

    /// Returns whether the event that tracks tasks apart does not count from its opening on.
    fn tracking_waits(&self) -> bool {
        let target = self.common.target;
        let starts_now = target.start == Start::Now;
        match self.common.sampling.traced {
            None => target.target == Target::Workload && !starts_now,
            Some(traced) => {
                let at_once = self.common.is_hybrid && starts_now;
                !(traced.switches || at_once || target.target.is_cpu_wide())
            }
        }
    }

    fn inherits(&self) -> bool {
        let allowed = !self.common.target.follows_tasks() && self.common.target.target.inherits();
        self.request
            .inherit
            .unwrap_or(self.common.target.inherit && allowed)
    }

    fn tracking_flags(&self) -> AttrFlags {
        let mut flags = AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK;
        flags.set(AttrFlags::MMAP2, self.may_have(KernelFeature::Mmap2));
        // A copy of a stack points to data.
        let copies_stacks = matches!(self.call_graph(), CallGraph::Dwarf { .. })
            || matches!(self.common.sampling.call_graph, CallGraph::Dwarf { .. });
        let records = self.records();
        flags.set(AttrFlags::MMAP_DATA, copies_stacks || records.data_mappings);
        flags.set(AttrFlags::COMM_EXEC, self.may_have(KernelFeature::CommExec));
        let with_ksymbols = !self.has_text_poke && self.may_have(KernelFeature::Ksymbol);
        flags.set(AttrFlags::KSYMBOL, with_ksymbols);
        let of_programs = records.bpf_programs && self.may_have(KernelFeature::BpfEvent);
        flags.set(AttrFlags::BPF_EVENT, of_programs);
        let traced = self.common.sampling.traced;
        let with_switches = records.context_switches || traced.is_some_and(|own| own.switches);
        flags.set(AttrFlags::CONTEXT_SWITCH, with_switches);
        flags.set(AttrFlags::NAMESPACES, records.namespaces);
        flags.set(AttrFlags::CGROUP, records.cgroups);
        let by_build_id = records.build_ids && self.may_have(KernelFeature::MmapBuildId);
        flags.set(AttrFlags::BUILD_ID, by_build_id);
        flags
    }
}
