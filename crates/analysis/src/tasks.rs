//! The threads of a recording as a tree: who made whom.

use oxperf_abi::Tid;
use oxperf_machine::{Machine, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A thread in its place of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskNode {
    /// The thread.
    pub thread: ThreadId,
    /// How many made each other down to it: 0 the idle thread, 1 those that nobody known made.
    pub depth: usize,
}

/// The threads that the machine knows at its end, each followed by those that it made; siblings ordered by id.
///
/// ```
/// use oxperf_abi::{Misc, PerfTime, Pid, Tid};
/// use oxperf_analysis::tasks::tasks;
/// use oxperf_machine::Machine;
/// use oxperf_wire::kernel::TaskEvent as Fork;
///
/// let mut machine = Machine::default();
/// let fork = Fork { pid: Pid(9), ppid: Pid(5), tid: Tid(9), ptid: Tid(5), time: PerfTime(0) };
/// machine.apply_fork(Misc(0), &fork);
/// let depths: Vec<usize> = tasks(&machine).iter().map(|task| task.depth).collect();
/// assert_eq!(depths, [0, 1, 2]); // idle, 5, 9
/// ```
pub fn tasks(machine: &Machine) -> Vec<TaskNode> {
    let threads = machine.present_threads();
    let mut forest = Forest::new(machine, &threads);
    let mut roots: Vec<ThreadId> = threads
        .iter()
        .copied()
        .filter(|thread| forest.parent(*thread).is_none())
        .collect();
    // As in perf: behind the idle thread first those of whose parents nothing is known.
    roots.sort_by_key(|thread| {
        let thread = machine.thread_info(*thread);
        (
            thread.tid.0 != 0,
            thread.parent.map_or(-1, |parent| parent.0),
            thread.tid.0,
        )
    });
    // Broken records can make two threads each other's child: no root leads to them.
    roots
        .into_iter()
        .chain(threads)
        .for_each(|thread| forest.list(thread));
    forest.listed
}

/// The tree on its way to a list.
struct Forest<'m> {
    machine: &'m Machine,
    by_tid: FxHashMap<Tid, ThreadId>,
    children: FxHashMap<Tid, Vec<ThreadId>>,
    seen: FxHashSet<ThreadId>,
    listed: Vec<TaskNode>,
}

impl<'m> Forest<'m> {
    fn new(machine: &'m Machine, threads: &[ThreadId]) -> Forest<'m> {
        let by_tid = threads
            .iter()
            .map(|id| (machine.thread_info(*id).tid, *id))
            .collect();
        let mut forest = Forest {
            machine,
            by_tid,
            children: FxHashMap::default(),
            seen: FxHashSet::default(),
            listed: Vec::with_capacity(threads.len()),
        };
        for thread in threads {
            if let Some(parent) = forest.parent(*thread) {
                forest.children.entry(parent).or_default().push(*thread);
            }
        }
        forest
    }

    /// The thread that made this one, if it is known; whom the idle thread made stands beside it.
    fn parent(&self, thread: ThreadId) -> Option<Tid> {
        let parent = self.machine.thread_info(thread).parent?;
        (parent.0 > 0 && self.by_tid.contains_key(&parent)).then_some(parent)
    }

    /// Lists a thread and all that come from it.
    fn list(&mut self, root: ThreadId) {
        let idle = self.machine.thread_info(root).tid.0 == 0;
        let mut waiting = vec![TaskNode {
            thread: root,
            depth: usize::from(!idle),
        }];
        while let Some(task) = waiting.pop() {
            if !self.seen.insert(task.thread) {
                continue;
            }
            self.listed.push(task);
            let made = self
                .children
                .get(&self.machine.thread_info(task.thread).tid);
            let made = made.into_iter().flatten().rev();
            waiting.extend(made.map(|thread| TaskNode {
                thread: *thread,
                depth: task.depth + 1,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Misc, PerfTime, Pid};
    use oxperf_wire::kernel::TaskEvent as Fork;

    /// Plays forks, `child<parent`, and writes the tree.
    fn tree(forks: &[(i32, i32)]) -> String {
        let mut machine = Machine::default();
        for (child, parent) in forks {
            let (pid, ppid, tid, ptid) = (Pid(*child), Pid(*parent), Tid(*child), Tid(*parent));
            machine.apply_fork(
                Misc(0),
                &Fork {
                    pid,
                    ppid,
                    tid,
                    ptid,
                    time: PerfTime(0),
                },
            );
        }
        let text = |task: &TaskNode| {
            format!(
                "{}{} ",
                "-".repeat(task.depth),
                machine.thread_info(task.thread).tid
            )
        };
        tasks(&machine).iter().map(text).collect()
    }

    #[test]
    fn children_follow_their_parents() {
        assert_eq!(
            tree(&[(7, 5), (6, 5), (9, 6), (1, 0)]),
            "0 -5 --6 ---9 --7 -1 "
        );
    }

    #[test]
    fn circles_are_listed_once() {
        assert_eq!(tree(&[(5, 6), (6, 5)]), "0 -5 --6 ");
    }
}
