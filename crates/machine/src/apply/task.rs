//! FORK and EXIT: threads begin and end.

use oxperf_abi::Misc;
use oxperf_wire::kernel::TaskEvent;

use crate::Machine;

impl Machine {
    /// Applies a FORK record: the child has its parent's name, and a process a copy of its parent's mappings.
    pub fn apply_fork(&mut self, misc: Misc, fork: &TaskEvent) {
        let parent_id = self.thread(fork.ppid, fork.ptid);
        self.alive.remove(&fork.tid);
        let child_id = self.thread(fork.pid, fork.tid);
        self.threads[child_id.0 as usize].parent = Some(fork.ptid);
        let parent = self.threads[parent_id.0 as usize];
        if parent.named {
            let name = self.comm_of(parent_id).to_owned();
            self.set_comm(child_id, &name);
        }
        let child = self.threads[child_id.0 as usize];
        let clones = child.pid != parent.pid && !misc.has(Misc::FORK_EXEC);
        if clones {
            self.spaces[child.space.0 as usize] = self.spaces[parent.space.0 as usize].clone();
        }
    }

    /// Applies an EXIT record: the thread id may be used again.
    pub fn apply_exit(&mut self, exit: &TaskEvent) {
        if !self.keep_exited {
            self.alive.remove(&exit.tid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{CpuMode, PerfTime, Pid, Tid};
    use oxperf_wire::kernel::{Comm, Mmap};

    fn task(pid: i32, tid: i32, ppid: i32) -> TaskEvent {
        TaskEvent {
            pid: Pid(pid),
            ppid: Pid(ppid),
            tid: Tid(tid),
            ptid: Tid(ppid),
            time: PerfTime(1),
        }
    }

    fn machine_with_parent() -> Machine {
        let mut machine = Machine::default();
        machine.apply_comm(&Comm {
            pid: Pid(1),
            tid: Tid(1),
            comm: b"sh",
        });
        let mmap = Mmap {
            pid: Pid(1),
            tid: Tid(1),
            start: 0x1000,
            len: 0x1000,
            pgoff: 0,
            filename: b"/bin/sh",
        };
        machine.apply_mmap(Misc(2), &mmap);
        machine
    }

    #[test]
    fn a_process_takes_a_copy_and_a_thread_shares() {
        let mut machine = machine_with_parent();
        machine.apply_fork(Misc(0), &task(2, 2, 1));
        machine.apply_fork(Misc(0), &task(1, 3, 1));
        let (process, thread) = (
            machine.thread(Pid(2), Tid(2)),
            machine.thread(Pid(1), Tid(3)),
        );
        let other = Mmap {
            pid: Pid(1),
            tid: Tid(1),
            start: 0x9000,
            len: 0x1000,
            pgoff: 0,
            filename: b"/lib/l",
        };
        machine.apply_mmap(Misc(2), &other);
        assert_eq!(
            (machine.comm_of(process), machine.comm_of(thread)),
            ("sh", "sh")
        );
        let sees = |thread, address| machine.locate(thread, CpuMode::User, address).is_some();
        assert_eq!(
            [sees(process, 0x1000), sees(process, 0x9000)],
            [true, false]
        );
        assert_eq!([sees(thread, 0x1000), sees(thread, 0x9000)], [true, true]);
    }

    #[test]
    fn threads_are_listed_with_their_makers_and_mappings() {
        let mut machine = machine_with_parent();
        machine.apply_fork(Misc(0), &task(2, 2, 1));
        let present: Vec<_> = machine
            .present_threads()
            .iter()
            .map(|id| *machine.thread_info(*id))
            .collect();
        let lines: Vec<_> = present
            .iter()
            .map(|thread| (thread.tid.0, thread.parent))
            .collect();
        assert_eq!(lines, [(0, None), (1, None), (2, Some(Tid(1)))]);
        let child = machine.thread(Pid(2), Tid(2));
        let mapped: Vec<_> = machine
            .mappings_of(child)
            .map(|(start, end, _)| (start, end))
            .collect();
        assert_eq!(mapped, [(0x1000, 0x2000)]);
    }

    #[test]
    fn a_thread_that_ended_is_not_known_by_name() {
        let mut machine = machine_with_parent();
        machine.apply_exit(&task(1, 1, 0));
        let again = machine.thread(Pid(1), Tid(1));
        assert_eq!(machine.comm_of(again), ":1");
    }

    #[test]
    fn a_thread_that_ended_can_stay_known() {
        let mut machine = machine_with_parent();
        machine.keep_exited_threads();
        machine.apply_exit(&task(1, 1, 0));
        let again = machine.thread(Pid(1), Tid(1));
        assert_eq!(machine.comm_of(again), "sh");
    }
}
