//! Merging samples while the next ones are read: the rows of a profile grow beside the session.

use std::sync::mpsc::{Receiver, Sender, channel};

use oxperf_machine::{CommId as MachineComm, ThreadId as MachineThread};
use oxperf_resolve::FrameId as LocatedId;
use rustc_hash::FxHashMap;

use super::named::Named;
use crate::profile::{
    Branch, BranchEnd, BranchId, CommId, ContextTree, DetailId, FrameId, HistoryId, Moment, NodeId,
    SampleGroup, ThreadId,
};

/// Samples as they came, in order. Their addresses are located, and named by whoever merges them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) samples: Vec<Sample>,
    /// The chains of the samples one after another, innermost address first.
    pub(super) chains: Vec<LocatedId>,
    /// Branches that samples stand for.
    pub(super) links: Vec<Link>,
}

/// A sample, its chain and its branch apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) event: usize,
    pub(super) thread: MachineThread,
    pub(super) comm: MachineComm,
    pub(super) detail: DetailId,
    /// Its own address.
    pub(super) frame: LocatedId,
    /// The branch of it that this one stands for, by its place in [`Batch::links`].
    pub(super) link: Option<u32>,
    /// Whether this is the last of those that stand for one sample; it counts for the sample.
    pub(super) last: bool,
    /// The branches that its chain holds.
    pub(super) past: Option<Past>,
    /// Where its chain ends in [`Batch::chains`]; it begins where the last one's ends.
    pub(super) chain_end: usize,
    pub(super) period: u64,
    pub(super) latency: u64,
    /// When and where it was taken, if that is kept.
    pub(super) taken: Option<Taken>,
}

/// The part of a chain that is branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub(super) history: HistoryId,
    /// How many addresses it has.
    pub(super) length: usize,
    /// Whether it is the outermost part of the chain, and not the innermost.
    pub(super) outermost: bool,
}

/// A branch of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: LinkEnd,
    pub(super) to: LinkEnd,
    pub(super) flags: u64,
}

/// One end of a branch, its addresses where they matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkEnd {
    pub(super) frame: LocatedId,
    pub(super) address: Option<(u64, u64)>,
}

/// What tells a sample from the others of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
}

impl Batch {
    /// How full it is.
    pub(super) fn len(&self) -> usize {
        self.chains.len() + self.samples.len()
    }

    fn clear(&mut self) {
        self.samples.clear();
        self.chains.clear();
        self.links.clear();
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
    pub(super) named: Named,
    groups: FxHashMap<GroupKey, u32>,
    /// The chain that is being inserted.
    path: Vec<FrameId>,
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
    history: Option<HistoryId>,
}

impl Merger {
    fn merge(&mut self, batch: &Batch, named: Named) {
        self.named.append(named);
        let mut start = 0;
        for sample in &batch.samples {
            let chain = &batch.chains[start..sample.chain_end];
            start = sample.chain_end;
            let branch = sample.link.and_then(|link| self.branch(batch.links.get(link as usize)?));
            let is_shown = self.named.shown(sample.frame).is_some();
            if !is_shown || (sample.link.is_some() && branch.is_none()) {
                continue;
            }
            self.path.clear();
            match sample.past {
                Some(past) => self.named.lay_out_past(chain, past, &mut self.path),
                None => self.named.lay_out(chain, &mut self.path),
            }
            let chain = self.chains.insert(&self.path);
            self.add(sample, branch, chain);
        }
    }

    fn add(&mut self, sample: &Sample, branch: Option<BranchId>, chain: NodeId) {
        let key = GroupKey {
            event: sample.event as u32,
            thread: ThreadId(sample.thread.0),
            comm: CommId(sample.comm.0),
            detail: sample.detail,
            frame: self.named.frame(sample.frame),
            branch,
            chain,
            history: sample.past.map(|past| past.history),
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
    /// The branch of a link; `None` if one of its ends is not shown.
    fn branch(&mut self, link: &Link) -> Option<BranchId> {
        let named = &self.named;
        let end = |end: LinkEnd| Some(BranchEnd { frame: named.shown(end.frame)?, address: end.address });
        let branch = Branch { from: end(link.from)?, to: end(link.to)?, flags: link.flags };
        let branches = &mut self.branches;
        Some(*self.known_branches.entry(branch).or_insert_with(|| {
            branches.push(branch);
            BranchId(branches.len() as u32 - 1)
        }))
    }
}

impl GroupKey {
    fn group(self, (period, latency): (u64, u64), order: u64) -> SampleGroup {
        let GroupKey { thread, comm, detail, frame, branch, chain, history, .. } = self;
        SampleGroup {
            thread,
            comm,
            detail,
            frame,
            branch,
            chain,
            history,
            samples: 1,
            period,
            latency,
            order,
        }
    }
}

/// A merger that works beside the caller, on one batch at a time.
#[derive(Debug)]
pub(super) struct Merging {
    /// The merger and an empty batch, unless they are at work.
    idle: Option<Done>,
    done: (Sender<Done>, Receiver<Done>),
}

type Done = (Merger, Batch);

impl Default for Merging {
    fn default() -> Merging {
        Merging { idle: Some(Default::default()), done: channel() }
    }
}

impl Merging {
    /// Begins with a batch, and what its new addresses are called, as soon as the last one is done; gives an empty one
    /// that keeps that one's memory.
    pub(super) fn begin(&mut self, mut batch: Batch, named: Named) -> Batch {
        let (mut merger, empty) = self.wait();
        let done = self.done.0.clone();
        rayon::spawn(move || {
            merger.merge(&batch, named);
            batch.clear();
            // Nobody waits when the session was broken off.
            let _ = done.send((merger, batch));
        });
        empty
    }

    /// Merges the last batch and gives the merger back.
    pub(super) fn finish(mut self, last: &Batch, named: Named) -> Merger {
        let (mut merger, _) = self.wait();
        merger.merge(last, named);
        merger
    }

    fn wait(&mut self) -> Done {
        // This side holds a sender, too: what was begun comes back.
        self.idle.take().or_else(|| self.done.1.recv().ok()).unwrap_or_default()
    }
}
