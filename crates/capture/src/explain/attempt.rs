//! What was asked of the kernel, as far as the reason for a refusal depends on it.

use oxperf_abi::{AttrFlags, Cpu, EventAttr, EventType, SampleType};

use crate::plan::{OpenSite, Plan, PlannedEvent, TargetTask};

/// Whose events were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptTask {
    /// Whoever runs on a CPU.
    Everybody,
    /// The recorder's own child.
    Child,
    /// A thread that exists already, perhaps somebody else's.
    Foreign,
    /// The tasks of a cgroup.
    Cgroup,
}

/// One opening that was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenAttempt<'a> {
    /// The event's name.
    pub event: &'a str,
    /// The name of its PMU.
    pub pmu: &'a str,
    /// The attribute.
    pub attr: &'a EventAttr,
    /// Whose events.
    pub task: AttemptTask,
    /// The CPU; `None` for all.
    pub cpu: Option<Cpu>,
    /// The events of its group, when it is a member and no leader: how many there are with it.
    pub group: Option<usize>,
}

impl<'a> OpenAttempt<'a> {
    /// The opening of the `event`-th event of a plan at a site.
    pub(crate) fn of_plan(plan: &'a Plan, event: usize, site: OpenSite) -> Option<OpenAttempt<'a>> {
        let planned = plan.events.get(event)?;
        let leader = planned.request.leader;
        let is_member =
            |index: usize, other: Option<usize>| Some(index) == leader || other == leader;
        let members = plan.events.iter().take(event + 1).enumerate();
        let members = members.filter(|(index, other)| is_member(*index, other.request.leader));
        let group = leader.map(|_| members.count());
        Some(OpenAttempt::of_event(planned, site, group))
    }

    /// The opening of an event at a site, as one of so many events of its group.
    pub(crate) fn of_event(
        planned: &'a PlannedEvent,
        site: OpenSite,
        group: Option<usize>,
    ) -> OpenAttempt<'a> {
        OpenAttempt {
            event: &planned.request.name,
            pmu: &planned.request.pmu,
            attr: &planned.attr,
            task: match site.task {
                TargetTask::Anyone => AttemptTask::Everybody,
                TargetTask::Workload => AttemptTask::Child,
                TargetTask::Thread(_) => AttemptTask::Foreign,
            },
            cpu: site.cpu,
            group,
        }
    }

    pub(super) fn has(&self, flag: AttrFlags) -> bool {
        self.attr.flags.contains(flag)
    }

    pub(super) fn samples(&self) -> bool {
        self.attr.sample_period != 0
    }

    pub(super) fn takes(&self, field: SampleType) -> bool {
        self.attr.sample_type.contains(field)
    }

    pub(super) fn is_system_wide(&self) -> bool {
        self.task == AttemptTask::Everybody
    }

    /// Returns whether the event is one of the CPU's core, by whichever name.
    pub(super) fn is_of_core(&self) -> bool {
        let kinds = [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW];
        kinds.contains(&self.attr.kind)
    }

    /// Returns whether it shows something of the kernel: its events, registers, addresses or branches.
    pub(super) fn shows_kernel(&self) -> bool {
        !self.has(AttrFlags::EXCLUDE_KERNEL)
            || self.takes(SampleType::REGS_INTR)
            || self.takes(SampleType::PHYS_ADDR)
    }

    /// Returns whether a mode is left out.
    pub(super) fn leaves_modes_out(&self) -> bool {
        let modes = AttrFlags::EXCLUDE_USER
            | AttrFlags::EXCLUDE_KERNEL
            | AttrFlags::EXCLUDE_HV
            | AttrFlags::EXCLUDE_IDLE
            | AttrFlags::EXCLUDE_HOST
            | AttrFlags::EXCLUDE_GUEST;
        self.attr.flags.intersects(modes)
    }

    /// The newest field in use, by its name, of those that came after Linux 5.
    pub(super) fn newest_field(&self) -> Option<&'static str> {
        let attr = self.attr;
        let fields = [
            (attr.config4 != 0, "config4 (newer than Linux 6.18)"),
            (attr.config3 != 0, "config3 (Linux 6.3)"),
            (attr.aux_action != 0, "aux_action (Linux 6.13)"),
            (attr.sig_data != 0, "sig_data (Linux 5.13)"),
            (attr.aux_sample_size != 0, "aux_sample_size (Linux 5.5)"),
        ];
        let newest = fields.into_iter().find(|(used, _)| *used);
        newest.map(|(_, name)| name)
    }
}
