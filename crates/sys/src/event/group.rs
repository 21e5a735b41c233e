//! Events that count at the same times.

use super::{Counter, CounterSpec};
use crate::{Control, ControlScope, CounterRead, EventTask, Kernel, OpenError, ReadError};
use oxperf_abi::{AttrFlags, Cpu, ReadFormat};
use std::io;

/// A group of events: each has a counter, or none has, so that their counts belong to the same instructions.
pub struct CounterGroup<'k, 't> {
    task: EventTask<'t>,
    cpu: Option<Cpu>,
    leader: Counter<'k>,
    members: Vec<Counter<'k>>,
}

impl<'k, 't> CounterGroup<'k, 't> {
    /// Opens the leader of a new group for `task`. While the leader is disabled nothing of the group counts.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn open(
        kernel: &'k dyn Kernel,
        task: EventTask<'t>,
        leader: &CounterSpec,
    ) -> Result<CounterGroup<'k, 't>, OpenError> {
        let leader = leader.clone().reading(ReadFormat::GROUP | ReadFormat::ID);
        Ok(CounterGroup {
            task,
            cpu: leader.cpu(),
            leader: leader.open(kernel, task)?,
            members: Vec::new(),
        })
    }

    /// Adds a member, which counts whenever the leader does and on the leader's CPU, whatever it says itself; its place among the
    /// values of a read.
    ///
    /// # Errors
    /// The kernel's answer: `EINVAL` when the PMU has no counter left for it, or a member is pinned or exclusive, which only
    /// a leader can be.
    pub fn add(&mut self, member: &CounterSpec) -> Result<usize, OpenError> {
        let kernel = self.leader.kernel();
        let member = member
            .clone()
            .reading(ReadFormat::GROUP | ReadFormat::ID)
            .with(|attr| attr.flags.set(AttrFlags::DISABLED, false));
        let leader = Some(self.leader.event());
        let event = member.open_in(kernel, self.task, self.cpu, leader)?;
        self.members.push(Counter::new(kernel, event));
        Ok(self.members.len())
    }

    /// The first event.
    pub fn leader(&self) -> &Counter<'k> {
        &self.leader
    }

    /// The other events, in the order in which they were added.
    pub fn members(&self) -> &[Counter<'k>] {
        &self.members
    }

    /// Starts all that is disabled.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn enable(&self) -> io::Result<()> {
        self.leader.control(Control::Enable(ControlScope::Group))
    }

    /// Stops every event.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn disable(&self) -> io::Result<()> {
        self.leader.control(Control::Disable(ControlScope::Group))
    }

    /// Sets every count to 0.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn reset(&self) -> io::Result<()> {
        self.leader.control(Control::Reset(ControlScope::Group))
    }

    /// All counts at one moment, the leader's first.
    ///
    /// # Errors
    /// As [`Counter::read`].
    pub fn read(&self) -> Result<CounterRead, ReadError> {
        self.leader.read()
    }
}

impl std::fmt::Debug for CounterGroup<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CounterGroup")
            .field("leader", &self.leader)
            .field("members", &self.members)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FakeKernel;

    #[test]
    fn members_are_where_their_leader_is_and_count_when_it_does() {
        let kernel = FakeKernel::new();
        let leader = CounterSpec::task_clock().disabled().on_cpu(Cpu(1));
        let mut group = CounterGroup::open(&kernel, EventTask::Any, &leader).unwrap();
        let member = CounterSpec::task_clock().disabled().on_cpu(Cpu(0));
        assert_eq!(group.add(&member).unwrap(), 1);
        let opened = &kernel.opened()[1];
        assert_eq!((opened.cpu, opened.group), (Some(Cpu(1)), Some(0)));
        assert!(!opened.attr.flags.contains(AttrFlags::DISABLED));
    }
}
