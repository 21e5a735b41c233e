//! The sample groups of one event, and the search for the group of a sample.

use std::hash::BuildHasher;
use std::num::NonZeroU32;

use hashbrown::HashTable;
use oxperf_profile::{
    BranchHistoryId, BranchId, CommId, ContextTree, DetailId, FrameId, NodeId, SampleGroup,
    SampleMoment, ThreadId,
};
use rustc_hash::FxBuildHasher;

use super::batch::{BatchSample, SampleTime};
use super::options::MergeThreads;

/// The merged samples of one event.
#[derive(Clone, Debug, Default)]
pub(super) struct MergedEvent {
    pub(super) groups: Vec<SampleGroup>,
    pub(super) moments: Vec<SampleMoment>,
    pub(super) sample_count: u64,
    pub(super) period_total: u64,
    pub(super) latency_total: u64,
}

/// Merges the samples of one event.
#[derive(Debug, Default)]
pub(super) struct EventMerger {
    pub(super) merged: MergedEvent,
    /// The groups by their keys, but for those that [`FirstOfChains`] knows: the hash of the key and the index alone, as
    /// there may be many.
    by_key: HashTable<(u32, u32)>,
    /// By the frame of a sample without callers, the group of the last one, from 1: it is often that of the next.
    last: Vec<Option<NonZeroU32>>,
}

/// The fields in which samples must agree to be merged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct GroupKey {
    /// `None` where samples of different threads are merged.
    pub(super) thread: Option<ThreadId>,
    /// `None` where those of threads of different names are.
    pub(super) comm: Option<CommId>,
    pub(super) detail: DetailId,
    pub(super) frame: FrameId,
    pub(super) branch: Option<BranchId>,
    pub(super) chain: NodeId,
    pub(super) history: Option<BranchHistoryId>,
}

/// The first group of each chain, with its event: most chains have no other, and that needs no table to be searched.
#[derive(Debug, Default)]
pub(super) struct FirstOfChains(Vec<Option<(u32, NonZeroU32)>>);

impl FirstOfChains {
    /// The index of a group of an event, the next one if it is new.
    #[inline]
    pub(super) fn group(
        &mut self,
        event: &mut EventMerger,
        event_number: u32,
        key: &GroupKey,
        merge_threads: MergeThreads,
    ) -> u32 {
        let next = event.merged.groups.len() as u32;
        if self.0.len() <= key.chain.index() {
            self.0.resize(key.chain.index() + 1, None);
        }
        match &mut self.0[key.chain.index()] {
            Some((of, first)) => match first.get() - 1 {
                first if *of == event_number && event.is(first, key, merge_threads) => first,
                _ => event.find(key, merge_threads),
            },
            unknown => {
                let first = NonZeroU32::MIN.checked_add(next);
                *unknown = first.map(|first| (event_number, first));
                next
            }
        }
    }
}

impl EventMerger {
    /// Counts a sample in the totals of the event.
    #[inline]
    pub(super) fn count(&mut self, sample: &BatchSample) {
        let merged = &mut self.merged;
        merged.sample_count += u64::from(sample.last);
        merged.period_total = merged.period_total.wrapping_add(sample.period);
        merged.latency_total = merged.latency_total.wrapping_add(sample.latency);
    }

    /// Adds a sample to the group at an index; the group is made if it is the next one. `order` is the sample's number.
    #[inline]
    pub(super) fn add(&mut self, index: u32, key: GroupKey, sample: &BatchSample, order: u64) {
        match self.merged.groups.get_mut(index as usize) {
            Some(group) => {
                group.samples += 1;
                group.period = group.period.wrapping_add(sample.period);
                group.latency = group.latency.wrapping_add(sample.latency);
            }
            None => self.merged.groups.push(key.group(sample, order)),
        }
    }

    /// Adds the moment of a sample of the group at an index.
    pub(super) fn add_moment(&mut self, index: u32, sample: &BatchSample, at: SampleTime) {
        self.merged.moments.push(SampleMoment {
            time: at.time,
            cpu: at.cpu,
            group: index,
            period: sample.period,
        });
    }

    /// The index of a group without callers, the next one if it is new.
    #[inline]
    pub(super) fn group_without_chain(
        &mut self,
        key: &GroupKey,
        merge_threads: MergeThreads,
    ) -> u32 {
        let frame = key.frame.index();
        if let Some(last) = self.last.get(frame).copied().flatten() {
            let index = last.get() - 1;
            if self.is(index, key, merge_threads) {
                return index;
            }
        }
        let index = self.find(key, merge_threads);
        self.last.resize(self.last.len().max(frame + 1), None);
        self.last[frame] = NonZeroU32::MIN.checked_add(index);
        index
    }

    /// True if the group at an index has the key.
    #[inline]
    fn is(&self, index: u32, key: &GroupKey, merge_threads: MergeThreads) -> bool {
        let group = self.merged.groups.get(index as usize);
        group.is_some_and(|group| GroupKey::of(group, merge_threads) == *key)
    }

    #[inline]
    fn find(&mut self, key: &GroupKey, merge_threads: MergeThreads) -> u32 {
        let groups = &self.merged.groups;
        let next = groups.len() as u32;
        let hash = FxBuildHasher.hash_one(key) as u32;
        let is_it = |&(known, index): &(u32, u32)| {
            known == hash && GroupKey::of(&groups[index as usize], merge_threads) == *key
        };
        // The table wants the upper bits spread, too.
        let spread = |hash: u32| u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = self
            .by_key
            .entry(spread(hash), is_it, |(hash, _)| spread(*hash));
        entry.or_insert((hash, next)).get().1
    }
}

impl GroupKey {
    /// The key of a group.
    #[inline]
    fn of(group: &SampleGroup, merge_threads: MergeThreads) -> GroupKey {
        GroupKey {
            thread: (merge_threads == MergeThreads::Never).then_some(group.thread),
            comm: (merge_threads != MergeThreads::Always).then_some(group.comm),
            detail: group.detail,
            frame: group.frame,
            branch: group.branch,
            chain: group.chain,
            history: group.history,
        }
    }

    /// The key of a sample with this frame and branch, and without a chain yet.
    #[inline]
    pub(super) fn of_sample(
        sample: &BatchSample,
        frame: FrameId,
        merge_threads: MergeThreads,
    ) -> GroupKey {
        GroupKey {
            thread: (merge_threads == MergeThreads::Never).then_some(ThreadId(sample.thread.0)),
            comm: (merge_threads != MergeThreads::Always).then_some(CommId(sample.comm.0)),
            detail: sample.detail,
            frame,
            branch: None,
            chain: ContextTree::ROOT,
            history: sample.history,
        }
    }

    /// A group of one sample.
    fn group(self, first: &BatchSample, order: u64) -> SampleGroup {
        SampleGroup {
            thread: ThreadId(first.thread.0),
            comm: CommId(first.comm.0),
            detail: self.detail,
            frame: self.frame,
            branch: self.branch,
            chain: self.chain,
            history: self.history,
            samples: 1,
            period: first.period,
            latency: first.latency,
            order,
        }
    }
}
