//! Merging samples while the next ones are read: the sample groups of a profile grow beside the session.

use std::sync::mpsc::{Receiver, Sender, channel};

use oxperf_profile::{BranchEnd, BranchId, ContextTree, FrameId, SampleBranch};
use oxperf_resolve::FrameId as LocatedId;
use rustc_hash::FxHashMap;

use super::batch::{Batch, BatchBranch, BatchSample, SampleTime};
use super::merged_event::{EventMerger, FirstOfChains, GroupKey, MergedEvent};
use super::named_frames::{NamedFrames, NamedTables};
use super::options::MergeThreads;
use super::split::TableSplit;

/// All samples, merged, with the tables that their groups refer to.
#[derive(Debug, Default)]
pub(super) struct MergedSamples {
    pub(super) chains: ContextTree,
    pub(super) branches: Vec<SampleBranch>,
    /// By the number of the event.
    pub(super) events: Vec<MergedEvent>,
}

/// The group that a sample belongs to: the number of its event, and its index there.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupOfSample {
    pub(super) event: u32,
    pub(super) group: u32,
}

/// Merges samples that agree in all that is kept of them.
#[derive(Debug, Default)]
struct Merger {
    merge_threads: MergeThreads,
    named: NamedTables,
    /// The chain that is being inserted.
    path: Vec<FrameId>,
    chains: ContextTree,
    firsts: FirstOfChains,
    known_branches: FxHashMap<SampleBranch, BranchId>,
    branches: Vec<SampleBranch>,
    events: Vec<EventMerger>,
    /// The group of each sample, if that is kept.
    numbered: Option<Vec<GroupOfSample>>,
    /// Number of samples so far.
    seen: u64,
}

impl Merger {
    fn merge(&mut self, batch: &mut Batch, named: Vec<NamedFrames>) {
        batch.join_parts(self.named.split());
        self.named.append(named);
        let known = std::mem::take(&mut self.named);
        batch
            .samples
            .iter()
            .for_each(|sample| self.merge_sample(batch, sample, &known));
        self.named = known;
        batch.clear();
    }

    #[inline]
    fn merge_sample(&mut self, batch: &Batch, sample: &BatchSample, named: &NamedTables) {
        let Some(located) = batch.located_sample(sample) else {
            return;
        };
        let Some(frame) = named.shown(located.own) else {
            return;
        };
        let mut key = GroupKey::of_sample(sample, frame, self.merge_threads);
        if sample.is_branch {
            let branch = batch.branches.get(sample.branches.range().start);
            let branch = branch.zip(located.ends.first());
            key.branch = branch.and_then(|(branch, ends)| self.branch(branch, *ends, named));
            if key.branch.is_none() {
                return;
            }
        }
        self.path.clear();
        named.lay_out(located.chain, &mut self.path);
        key.chain = self.chains.insert(&self.path);
        let moment = sample.moment;
        let moment = moment.and_then(|moment| batch.moments.get(moment as usize));
        self.add(sample, key, moment.copied());
    }

    fn add(&mut self, sample: &BatchSample, key: GroupKey, moment: Option<SampleTime>) {
        let order = self.seen;
        self.seen += 1;
        let number = sample.event as usize;
        if self.events.len() <= number {
            self.events.resize_with(number + 1, EventMerger::default);
        }
        let event = &mut self.events[number];
        event.count(sample);
        let index = if key.chain == ContextTree::ROOT {
            event.group_without_chain(&key, self.merge_threads)
        } else {
            self.firsts
                .group(event, sample.event, &key, self.merge_threads)
        };
        if let Some(numbered) = &mut self.numbered {
            numbered.push(GroupOfSample {
                event: sample.event,
                group: index,
            });
        }
        if let Some(moment) = moment {
            event.add_moment(index, sample, moment);
        }
        event.add(index, key, sample, order);
    }

    /// The id of a branch; `None` if one of its ends is not shown.
    fn branch(
        &mut self,
        branch: &BatchBranch,
        ends: [LocatedId; 2],
        named: &NamedTables,
    ) -> Option<BranchId> {
        let [from, to] = ends.map(|end| named.shown(end));
        let [from_address, to_address] = match branch.addresses {
            Some(addresses) => addresses.map(Some),
            None => [None; 2],
        };
        let branch = SampleBranch {
            from: BranchEnd {
                frame: from?,
                address: from_address,
            },
            to: BranchEnd {
                frame: to?,
                address: to_address,
            },
            flags: branch.flags,
        };
        let branches = &mut self.branches;
        Some(*self.known_branches.entry(branch).or_insert_with(|| {
            branches.push(branch);
            BranchId(branches.len() as u32 - 1)
        }))
    }
}

/// A merger that works beside the caller, on one batch at a time.
#[derive(Debug)]
pub(super) struct BackgroundMerger {
    /// The merger and an empty batch, unless they are at work.
    idle: Option<Done>,
    done: (Sender<Done>, Receiver<Done>),
}

type Done = (Merger, Batch);

impl BackgroundMerger {
    /// Nothing merged yet.
    pub(super) fn new(split: TableSplit, merge_threads: MergeThreads) -> BackgroundMerger {
        let merger = Merger {
            merge_threads,
            named: NamedTables::new(split),
            ..Merger::default()
        };
        BackgroundMerger {
            idle: Some((merger, Batch::default())),
            done: channel(),
        }
    }

    /// Keeps the group of each sample, too.
    pub(super) fn number_samples(&mut self) {
        self.wait().0.numbered = Some(Vec::new());
    }

    /// Begins with a batch, given the names of its new addresses, as soon as the last one is done. Returns an empty batch
    /// that keeps the memory of that one.
    pub(super) fn begin(&mut self, mut batch: Batch, named: Vec<NamedFrames>) -> Batch {
        self.wait();
        let (mut merger, empty) = self.idle.take().unwrap_or_default();
        let done = self.done.0.clone();
        rayon::spawn(move || {
            merger.merge(&mut batch, named);
            // Nobody waits when the session was broken off.
            let _ = done.send((merger, batch));
        });
        empty
    }

    /// Merges a batch at once, and empties it.
    pub(super) fn merge(&mut self, batch: &mut Batch, named: Vec<NamedFrames>) {
        self.wait().0.merge(batch, named);
    }

    /// A copy of all merged samples. Waits for the batch that is merged.
    pub(super) fn samples(&mut self) -> MergedSamples {
        let (merger, _) = self.wait();
        let events = merger.events.iter();
        MergedSamples {
            chains: merger.chains.clone(),
            branches: merger.branches.clone(),
            events: events.map(|event| event.merged.clone()).collect(),
        }
    }

    /// Takes all merged samples out. Waits for the batch that is merged.
    pub(super) fn take_samples(&mut self) -> MergedSamples {
        let (merger, _) = self.wait();
        let events = std::mem::take(&mut merger.events).into_iter();
        MergedSamples {
            chains: std::mem::take(&mut merger.chains),
            branches: std::mem::take(&mut merger.branches),
            events: events.map(|event| event.merged).collect(),
        }
    }

    /// Takes the group of each sample out; none unless they were kept.
    pub(super) fn take_numbered(&mut self) -> Vec<GroupOfSample> {
        self.wait().0.numbered.take().unwrap_or_default()
    }

    /// The names of all addresses so far; `None` while a batch is merged.
    pub(super) fn named(&self) -> Option<&NamedTables> {
        self.idle.as_ref().map(|(merger, _)| &merger.named)
    }

    fn wait(&mut self) -> &mut Done {
        if self.idle.is_none() {
            // Where no thread could be had, nobody else merges.
            while let Some(rayon::Yield::Executed) = rayon::yield_now() {}
            // This side holds a sender, too: what was begun comes back.
            self.idle = self.done.1.recv().ok();
        }
        self.idle.get_or_insert_default()
    }
}
