//! The attribute of each event: how it samples, what a sample holds, what else it records, when it begins.

use oxperf_abi::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleType};

use crate::event::EventRequest;
use crate::missing::{Feature, Missing};
use crate::options::{CallGraph, Privilege, Rate, RecordOptions, Start, Target};
use crate::registers::RegisterMask;

/// The attributes of `requests`, in their order; the event at `tracking` carries task and mapping records.
pub(super) fn attrs(
    options: &RecordOptions,
    requests: &[EventRequest],
    tracking: usize,
    missing: Missing,
) -> Vec<EventAttr> {
    let mut attrs: Vec<EventAttr> = requests
        .iter()
        .enumerate()
        .map(|(index, request)| {
            Builder {
                options,
                request,
                tracking: index == tracking,
                missing,
            }
            .build()
        })
        .collect();
    identify_samples(&mut attrs);
    attrs
}

/// With several events a sample says which one it belongs to: where samples differ in shape, at a place that does
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
    options: &'a RecordOptions,
    request: &'a EventRequest,
    tracking: bool,
    missing: Missing,
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
        self.set_privilege(&mut attr.flags);
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
        self.tracking && super::needs_dummy(self.options)
    }

    fn rate(&self) -> Rate {
        let given = self.request.rate.or(self.options.rate);
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
                .unwrap_or(!self.options.follows_tasks() || tracepoint),
        );
        fields.set(
            SampleType::CPU,
            self.options.target.is_cpu_wide() || tracepoint,
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
        self.request.call_graph.unwrap_or(self.options.call_graph)
    }

    /// What callers that the kernel does not find need: a copy of the stack, or the CPU's records.
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
        let asked = self.options.user_registers;
        attr.sample_regs_user = match self.call_graph() {
            CallGraph::Dwarf { .. } => RegisterMask::for_unwinding(asked),
            _ => asked.map_or(0, |asked| asked.0),
        };
        attr.sample_regs_intr = self
            .options
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

    fn read_format(&self) -> ReadFormat {
        let mut format = ReadFormat::ID;
        format.set(ReadFormat::LOST, self.missing.still_has(Feature::ReadLost));
        format.set(ReadFormat::GROUP, self.request.sample_read);
        format
    }

    fn set_privilege(&self, flags: &mut AttrFlags) {
        let user_only = match self.options.privilege {
            Privilege::AsEventSays => return,
            Privilege::UserOnly => true,
            Privilege::KernelOnly => false,
        };
        flags.set(AttrFlags::EXCLUDE_KERNEL, user_only);
        flags.set(AttrFlags::EXCLUDE_USER, !user_only);
    }

    /// Group members follow their leader. The added tracking event runs from the first moment: from exec where the
    /// workload is the target, else from its opening.
    fn set_start(&self, flags: &mut AttrFlags) {
        let from_exec = self.options.target == Target::Workload;
        let (disabled, on_exec) = if self.is_added() {
            (from_exec, from_exec)
        } else {
            let leads = self.request.leader.is_none();
            (
                leads,
                leads && from_exec && self.options.start == Start::Now,
            )
        };
        flags.set(AttrFlags::DISABLED, disabled);
        flags.set(AttrFlags::ENABLE_ON_EXEC, on_exec);
    }

    fn inherits(&self) -> bool {
        let allowed = !self.options.follows_tasks() && self.options.target.inherits();
        self.request
            .inherit
            .unwrap_or(self.options.inherit && allowed)
    }

    fn tracking_flags(&self) -> AttrFlags {
        let mut flags = AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK;
        flags.set(AttrFlags::MMAP2, self.missing.still_has(Feature::Mmap2));
        flags.set(
            AttrFlags::COMM_EXEC,
            self.missing.still_has(Feature::CommExec),
        );
        flags.set(AttrFlags::KSYMBOL, self.missing.still_has(Feature::Ksymbol));
        flags.set(
            AttrFlags::BPF_EVENT,
            self.missing.still_has(Feature::BpfEvent),
        );
        flags.set(
            AttrFlags::BUILD_ID,
            self.missing.still_has(Feature::MmapBuildId),
        );
        flags
    }
}
