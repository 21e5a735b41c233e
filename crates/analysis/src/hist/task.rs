//! Tasks: what is left of a sample's thread, name, CPU and branch when only the keys count.

use rustc_hash::FxHashMap;

use super::branches::BranchRanks;
use super::key::SortKey;
use super::rank::ranks;
use crate::profile::{Profile, SampleGroup};

/// A place in the table of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId(pub(crate) u32);

/// The task of every sample group, and how tasks sort.
#[derive(Debug)]
pub(crate) struct Tasks {
    keys: Vec<SortKey>,
    /// The values of a task, one a key, to be compared as numbers.
    values: Vec<Box<[i64]>>,
    known: FxHashMap<Box<[i64]>, TaskId>,
    comm_ranks: Vec<u32>,
    trace_ranks: Vec<u32>,
    branches: BranchRanks,
}

impl Tasks {
    /// A table for the task keys among `keys`.
    pub(crate) fn new(profile: &Profile, keys: &[SortKey]) -> Tasks {
        Tasks {
            keys: keys.iter().copied().filter(|key| key.of_task()).collect(),
            values: Vec::new(),
            known: FxHashMap::default(),
            comm_ranks: ranks(profile.comms.iter().map(String::as_str)),
            trace_ranks: ranks(profile.traces.iter().map(String::as_str)),
            branches: BranchRanks::new(profile, keys),
        }
    }

    /// The task of a sample group.
    pub(crate) fn intern(
        &mut self,
        profile: &Profile,
        group: &SampleGroup,
        scratch: &mut Vec<i64>,
    ) -> TaskId {
        scratch.clear();
        scratch.extend(self.keys.iter().map(|&key| self.value(profile, group, key)));
        if let Some(&id) = self.known.get(scratch.as_slice()) {
            return id;
        }
        let id = TaskId(self.values.len() as u32);
        let values: Box<[i64]> = scratch.as_slice().into();
        self.values.push(values.clone());
        self.known.insert(values, id);
        id
    }

    fn value(&self, profile: &Profile, group: &SampleGroup, key: SortKey) -> i64 {
        let thread = profile.threads.get(group.thread.index());
        match key {
            SortKey::Thread => thread.map_or(-1, |thread| thread.tid.0.into()),
            SortKey::Process => thread.map_or(-1, |thread| thread.pid.0.into()),
            SortKey::Comm => self.comm_ranks.get(group.comm.index()).map_or(-1, |&rank| rank.into()),
            SortKey::Cpu => group.cpu.map_or(-1, i64::from),
            SortKey::Trace => {
                let rank = group.trace.and_then(|trace| self.trace_ranks.get(trace.index()));
                rank.map_or(-1, |&rank| rank.into())
            }
            SortKey::Branch(key) => self.branches.value(key, group.branch),
            SortKey::Dso | SortKey::Symbol | SortKey::SourceLine | SortKey::SourceFile => 0,
        }
    }

    /// The task's value for its `nth` task key.
    #[inline]
    pub(crate) fn nth_value(&self, task: TaskId, nth: usize) -> i64 {
        self.values[task.0 as usize][nth]
    }

    /// Number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}
