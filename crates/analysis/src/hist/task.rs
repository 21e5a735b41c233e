//! Tasks: what is left of a sample's thread, name, details and branch when only the keys count.

use rustc_hash::FxHashMap;

use super::accesses::AccessRanks;
use super::branches::BranchRanks;
use super::key::SortKey;
use super::rank::ranks;
use oxperf_profile::{Detail, Profile, SampleGroup};

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
    /// The same of names whose numbers do not count.
    digitless_ranks: Vec<u32>,
    /// Ranks of the details' texts.
    text_ranks: Vec<u32>,
    branches: BranchRanks,
    accesses: AccessRanks,
}

impl Tasks {
    /// A table for the task keys among `keys`.
    pub(crate) fn new(profile: &Profile, keys: &[SortKey]) -> Tasks {
        Tasks {
            keys: keys.iter().copied().filter(|key| key.of_task()).collect(),
            values: Vec::new(),
            known: FxHashMap::default(),
            comm_ranks: ranks(profile.comms.iter().map(String::as_str)),
            digitless_ranks: match keys.contains(&SortKey::CommNoDigit) {
                true => ranks(profile.comms.iter().map(|comm| without_digits(comm))),
                false => Vec::new(),
            },
            text_ranks: ranks(
                profile
                    .details
                    .texts
                    .iter()
                    .map(|text| text.order.as_slice()),
            ),
            branches: BranchRanks::new(profile, keys),
            accesses: AccessRanks::new(profile, keys),
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
            SortKey::Comm => self
                .comm_ranks
                .get(group.comm.index())
                .map_or(-1, |&rank| rank.into()),
            SortKey::CommNoDigit => self
                .digitless_ranks
                .get(group.comm.index())
                .map_or(-1, |&rank| rank.into()),
            SortKey::Branch(key) => self.branches.value(key, group.branch),
            SortKey::Access(key) => self.accesses.value(key, profile, group),
            key => {
                let value = key
                    .detail()
                    .map_or(-1, |detail| self.detail(profile, group, detail));
                if key.falls() { !value } else { value }
            }
        }
    }

    /// A detail as a number to compare; -1 where there is none.
    fn detail(&self, profile: &Profile, group: &SampleGroup, detail: Detail) -> i64 {
        let value = profile.details.value(group.detail, detail);
        let rank = |number: u64| {
            self.text_ranks
                .get(usize::try_from(number).ok()?)
                .copied()
                .map(i64::from)
        };
        match detail {
            // What has none comes last.
            Detail::Parent => value.and_then(rank).unwrap_or(i64::MAX),
            text if text.is_text() => value.and_then(rank).unwrap_or(-1),
            _ => value.map_or(-1, u64::cast_signed),
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

/// A name with `<N>` for every number in it.
pub fn without_digits(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut in_number = false;
    for letter in name.chars() {
        let digit = letter.is_ascii_digit();
        match (digit, in_number) {
            (true, false) => text.push_str("<N>"),
            (true, true) => {}
            (false, _) => text.push(letter),
        }
        in_number = digit;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_digits;

    #[test]
    fn every_number_in_a_name_is_one() {
        assert_eq!(without_digits("kworker/u12:3-ev"), "kworker/u<N>:<N>-ev");
        assert_eq!(without_digits("sh"), "sh");
    }
}
