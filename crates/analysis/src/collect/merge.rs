//! Merging samples while the next ones are read: the rows of a profile grow beside the session.

use std::sync::mpsc::{Receiver, Sender, channel};

use oxperf_machine::{CommId as MachineComm, ThreadId as MachineThread};
use rustc_hash::FxHashMap;

use crate::profile::{
    Branch, BranchEnd, BranchId, CommId, ContextTree, DetailId, FrameId, Moment, NodeId, SampleGroup,
    ThreadId,
};

/// Samples with frames of some kind.
#[derive(Debug)]
pub(super) struct Batch<F> {
    pub(super) samples: Vec<Sample<F>>,
    /// The chains of the samples one after another, innermost frame first.
    pub(super) chains: Vec<F>,
}

/// A sample, its chain apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample<F> {
    pub(super) event: usize,
    pub(super) thread: MachineThread,
    pub(super) comm: MachineComm,
    pub(super) detail: DetailId,
    /// Its own address.
    pub(super) frame: F,
    /// The branch of it that this one stands for.
    pub(super) branch: Option<Link<F>>,
    /// Whether this is the last of those that stand for one sample; it counts for the sample.
    pub(super) last: bool,
    /// Where its chain ends in [`Batch::chains`]; it begins where the last one's ends.
    pub(super) chain_end: usize,
    pub(super) period: u64,
    pub(super) latency: u64,
    /// When and where it was taken, if that is kept.
    pub(super) taken: Option<Taken>,
}

/// A branch of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link<F> {
    pub(super) from: LinkEnd<F>,
    pub(super) to: LinkEnd<F>,
    pub(super) flags: u64,
}

/// One end of a branch, its addresses where they matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkEnd<F> {
    pub(super) frame: F,
    pub(super) address: Option<(u64, u64)>,
}

/// What tells a sample from the others of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
}

impl<F> Default for Batch<F> {
    fn default() -> Batch<F> {
        Batch { samples: Vec::new(), chains: Vec::new() }
    }
}

impl<F: Copy> Batch<F> {
    /// Moves everything to a batch with other frames.
    pub(super) fn drain_to<G>(&mut self, other: &mut Batch<G>, frame: impl Fn(F) -> G) {
        other.chains.extend(self.chains.drain(..).map(&frame));
        other.samples.extend(self.samples.drain(..).map(|sample| sample.with(&frame)));
    }

    /// The same where an entry of a chain may be several frames.
    pub(super) fn drain_expanded<'g, G: Copy + 'g>(
        &mut self,
        other: &mut Batch<G>,
        frame: impl Fn(F) -> G,
        entry: impl Fn(F) -> &'g [G],
    ) {
        let mut start = 0;
        for sample in self.samples.drain(..) {
            for &link in &self.chains[start..sample.chain_end] {
                other.chains.extend_from_slice(entry(link));
            }
            start = sample.chain_end;
            let chain_end = other.chains.len();
            other.samples.push(Sample { chain_end, ..sample.with(&frame) });
        }
        self.chains.clear();
    }
}

impl<F> Sample<F> {
    /// The sample with another kind of frame.
    fn with<G>(self, to: impl Fn(F) -> G) -> Sample<G> {
        let Sample { event, thread, comm, detail, last, chain_end, period, latency, taken, .. } = self;
        let (frame, branch) = (to(self.frame), self.branch.map(|branch| branch.with(&to)));
        Sample { event, thread, comm, detail, frame, branch, last, chain_end, period, latency, taken }
    }
}

impl<F> Link<F> {
    fn with<G>(self, to: impl Fn(F) -> G) -> Link<G> {
        let end = |end: LinkEnd<F>| LinkEnd { frame: to(end.frame), address: end.address };
        Link { from: end(self.from), to: end(self.to), flags: self.flags }
    }
}

impl<F: Copy> Batch<F> {
    /// Leaves out the samples whose own frames do not pass, the branches of which an end does not, and such frames of
    /// chains.
    pub(super) fn retain(&mut self, passes: impl Fn(F) -> bool) {
        let chains = std::mem::take(&mut self.chains);
        let mut start = 0;
        self.samples.retain_mut(|sample| {
            let chain = chains.get(start..sample.chain_end).unwrap_or_default();
            start = sample.chain_end;
            let ends = sample.branch.map(|branch| passes(branch.from.frame) && passes(branch.to.frame));
            if !passes(sample.frame) || ends == Some(false) {
                return false;
            }
            self.chains.extend(chain.iter().copied().filter(|&frame| passes(frame)));
            sample.chain_end = self.chains.len();
            true
        });
    }
}

/// What became of the samples of one event.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) groups: Vec<SampleGroup>,
    pub(super) moments: Vec<Moment>,
    pub(super) sample_count: u64,
    pub(super) period_total: u64,
    pub(super) latency_total: u64,
}

/// Samples merged by everything that tells them apart.
#[derive(Debug, Default)]
pub(super) struct Merger {
    groups: FxHashMap<GroupKey, u32>,
    pub(super) chains: ContextTree,
    known_branches: FxHashMap<Branch, BranchId>,
    pub(super) branches: Vec<Branch>,
    pub(super) events: Vec<Merged>,
    seen: u64,
}

/// What samples must agree in to be merged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct GroupKey {
    event: u32,
    thread: ThreadId,
    comm: CommId,
    detail: DetailId,
    frame: FrameId,
    branch: Option<BranchId>,
    chain: NodeId,
}

impl Merger {
    fn merge(&mut self, batch: &mut Batch<FrameId>) {
        let mut start = 0;
        for sample in &batch.samples {
            let chain = &mut batch.chains[start..sample.chain_end];
            start = sample.chain_end;
            chain.reverse();
            let chain = self.chains.insert(chain);
            self.add(sample, chain);
        }
    }

    fn add(&mut self, sample: &Sample<FrameId>, chain: NodeId) {
        let key = GroupKey {
            event: sample.event as u32,
            thread: ThreadId(sample.thread.0),
            comm: CommId(sample.comm.0),
            detail: sample.detail,
            frame: sample.frame,
            branch: sample.branch.map(|branch| self.branch(branch)),
            chain,
        };
        let order = self.seen;
        self.seen += 1;
        if self.events.len() <= sample.event {
            self.events.resize_with(sample.event + 1, Merged::default);
        }
        let event = &mut self.events[sample.event];
        event.sample_count += u64::from(sample.last);
        event.period_total = event.period_total.wrapping_add(sample.period);
        event.latency_total = event.latency_total.wrapping_add(sample.latency);
        let index = *self.groups.entry(key).or_insert(event.groups.len() as u32);
        if let Some(Taken { time, cpu }) = sample.taken {
            event.moments.push(Moment { time, cpu, group: index, period: sample.period });
        }
        match event.groups.get_mut(index as usize) {
            Some(group) => {
                group.samples += 1;
                group.period = group.period.wrapping_add(sample.period);
                group.latency = group.latency.wrapping_add(sample.latency);
            }
            None => event.groups.push(key.group((sample.period, sample.latency), order)),
        }
    }
}

impl Merger {
    fn branch(&mut self, link: Link<FrameId>) -> BranchId {
        let end = |end: LinkEnd<FrameId>| BranchEnd { frame: end.frame, address: end.address };
        let branch = Branch { from: end(link.from), to: end(link.to), flags: link.flags };
        let branches = &mut self.branches;
        *self.known_branches.entry(branch).or_insert_with(|| {
            branches.push(branch);
            BranchId(branches.len() as u32 - 1)
        })
    }
}

impl GroupKey {
    fn group(self, (period, latency): (u64, u64), order: u64) -> SampleGroup {
        let GroupKey { thread, comm, detail, frame, branch, chain, .. } = self;
        SampleGroup { thread, comm, detail, frame, branch, chain, samples: 1, period, latency, order }
    }
}

/// A merger that works beside the caller, on one batch at a time.
#[derive(Debug)]
pub(super) struct Merging {
    /// The merger and an empty batch, unless they are at work.
    idle: Option<Done>,
    done: (Sender<Done>, Receiver<Done>),
}

type Done = (Merger, Batch<FrameId>);

impl Default for Merging {
    fn default() -> Merging {
        Merging { idle: Some(Default::default()), done: channel() }
    }
}

impl Merging {
    /// Begins with a batch as soon as the last one is done; gives an empty one that keeps that one's memory.
    pub(super) fn begin(&mut self, mut batch: Batch<FrameId>) -> Batch<FrameId> {
        let (mut merger, empty) = self.wait();
        let done = self.done.0.clone();
        rayon::spawn(move || {
            merger.merge(&mut batch);
            batch.samples.clear();
            batch.chains.clear();
            // Nobody waits when the session was broken off.
            let _ = done.send((merger, batch));
        });
        empty
    }

    /// Merges the last batch and gives the merger back.
    pub(super) fn finish(mut self, mut last: Batch<FrameId>) -> Merger {
        let (mut merger, _) = self.wait();
        merger.merge(&mut last);
        merger
    }

    fn wait(&mut self) -> Done {
        // This side holds a sender, too: what was begun comes back.
        self.idle.take().or_else(|| self.done.1.recv().ok()).unwrap_or_default()
    }
}
