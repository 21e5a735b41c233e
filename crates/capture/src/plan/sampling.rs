//! The attribute of each event that is sampled: its rate, the fields of a sample, the other records that it carries, its
//! beginning.

use oxperf_abi::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleType};

use crate::event::EventRequest;
use crate::options::{CallGraph, Rate, SamplingOptions, Target, TargetOptions};
use crate::registers::RegisterMask;
use crate::unsupported::{KernelFeature, Unsupported};

/// The inputs that the attributes of all events have in common.
#[derive(Clone, Copy)]
pub(super) struct Sampling<'a> {
    pub(super) target: &'a TargetOptions,
    pub(super) sampling: &'a SamplingOptions,
    pub(super) unsupported: Unsupported,
}

impl Sampling<'_> {
    /// The attributes of `requests`, in their order; the event at `tracking` carries task and mapping records.
    pub(super) fn attrs(self, requests: &[EventRequest], tracking: usize) -> Vec<EventAttr> {
        let attr = |(index, request)| {
            let builder = Builder {
                common: self,
                request,
                tracking: index == tracking,
            };
            builder.build()
        };
        let mut attrs: Vec<EventAttr> = requests.iter().enumerate().map(attr).collect();
        identify_samples(&mut attrs);
        attrs
    }
}

/// With several events a sample names the one it belongs to: where samples differ in shape, at a position that does
/// not depend on the shape.
fn identify_samples(attrs: &mut [EventAttr]) {
    let [first, rest @ ..] = &*attrs else { return };
    if rest.is_empty() {
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
    tracking: bool,
}

impl Builder<'_> {
    fn build(&self) -> EventAttr {
        let mut attr = self.request.attr;
        self.set_rate(&mut attr);
        attr.sample_type |= self.sample_type();
        attr.read_format = self.read_format();
        attr.sample_max_stack = self.max_stack();
        if !self.is_added() {
            self.set_call_graph(&mut attr);
            self.set_registers(&mut attr);
        }
        self.common.target.privilege.apply(&mut attr.flags);
        self.set_start(&mut attr.flags);
        attr.flags.set(AttrFlags::INHERIT, self.inherits());
        attr.flags.set(AttrFlags::SAMPLE_ID_ALL, true);
        if self.tracking {
            attr.flags |= self.tracking_flags();
        }
        attr
    }

    /// The tracking event that the planner added, as opposed to the user's first one.
    fn is_added(&self) -> bool {
        self.tracking && super::needs_dummy(self.common.target)
    }

    fn rate(&self) -> Rate {
        let given = self.request.rate.or(self.common.sampling.rate);
        let every_one = self.request.is_tracepoint() || self.is_added();
        given.unwrap_or(if every_one {
            Rate::Period(1)
        } else {
            Rate::DEFAULT
        })
    }

    fn set_rate(&self, attr: &mut EventAttr) {
        if self.is_read_member() {
            return;
        }
        match self.rate() {
            Rate::Frequency(hertz) => {
                attr.sample_period = hertz;
                attr.flags.set(AttrFlags::FREQ, true);
            }
            Rate::Period(events) => attr.sample_period = events,
        }
    }

    /// A member that is read with its leader's samples and takes none itself.
    fn is_read_member(&self) -> bool {
        self.request.sample_read && self.request.leader.is_some()
    }

    fn sample_type(&self) -> SampleType {
        let tracepoint = self.request.is_tracepoint();
        let mut fields = SampleType::IP | SampleType::TID;
        fields.set(
            SampleType::TIME,
            self.request
                .time
                .unwrap_or(!self.common.target.follows_tasks() || tracepoint),
        );
        fields.set(
            SampleType::CPU,
            self.common.target.target.is_cpu_wide() || tracepoint,
        );
        fields.set(SampleType::RAW, tracepoint);
        fields.set(
            SampleType::PERIOD,
            matches!(self.rate(), Rate::Frequency(_)) || tracepoint,
        );
        fields.set(SampleType::CALLCHAIN, self.call_graph() != CallGraph::Off);
        fields.set(SampleType::READ, self.request.sample_read);
        fields
    }

    fn call_graph(&self) -> CallGraph {
        if self.is_added() {
            return CallGraph::Off;
        }
        self.request
            .call_graph
            .unwrap_or(self.common.sampling.call_graph)
    }

    /// Sets what is needed to find callers that the kernel does not find: a copy of the stack, or the CPU's records.
    fn set_call_graph(&self, attr: &mut EventAttr) {
        match self.call_graph() {
            CallGraph::Off | CallGraph::FramePointers { .. } => {}
            CallGraph::Dwarf { stack_size } => {
                attr.sample_type |= SampleType::STACK_USER;
                attr.sample_stack_user = stack_size;
                attr.flags.set(AttrFlags::EXCLUDE_CALLCHAIN_USER, true);
                // Data may hold what a register pointed to.
                attr.flags.set(AttrFlags::MMAP_DATA, self.tracking);
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

    fn set_registers(&self, attr: &mut EventAttr) {
        let asked = self.common.sampling.user_registers;
        attr.sample_regs_user = match self.call_graph() {
            CallGraph::Dwarf { .. } => RegisterMask::for_unwinding(asked),
            _ => asked.map_or(0, |asked| asked.0),
        };
        attr.sample_regs_intr = self
            .common
            .sampling
            .interrupted_registers
            .map_or(0, |asked| asked.0);
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

    fn read_format(&self) -> ReadFormat {
        let mut format = ReadFormat::ID;
        format.set(ReadFormat::LOST, self.may_have(KernelFeature::ReadLost));
        format.set(ReadFormat::GROUP, self.request.sample_read);
        format
    }

    /// Group members follow their leader. The added tracking event runs from the first moment: from exec where the
    /// workload is the target, else from its opening.
    fn set_start(&self, flags: &mut AttrFlags) {
        let from_exec = self.common.target.target == Target::Workload;
        let (disabled, on_exec) = if self.is_added() {
            (from_exec, from_exec)
        } else {
            let leads = self.request.leader.is_none();
            (leads, leads && self.common.target.starts_on_exec())
        };
        flags.set(AttrFlags::DISABLED, disabled);
        flags.set(AttrFlags::ENABLE_ON_EXEC, on_exec);
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
        flags.set(AttrFlags::COMM_EXEC, self.may_have(KernelFeature::CommExec));
        flags.set(AttrFlags::KSYMBOL, self.may_have(KernelFeature::Ksymbol));
        flags.set(AttrFlags::BPF_EVENT, self.may_have(KernelFeature::BpfEvent));
        flags.set(
            AttrFlags::BUILD_ID,
            self.may_have(KernelFeature::MmapBuildId),
        );
        flags
    }
}
