//! Merging samples while the next ones are read: the rows of a profile grow beside the session.

use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};

use hashbrown::HashTable;
use oxperf_abi::CpuMode;
use oxperf_machine::{CommId as MachineComm, ThreadId as MachineThread};
use oxperf_resolve::{FrameId as LocatedId, MappingsId, MappingsTable};
use oxperf_session::SampleEvent;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Alike;
use super::locate::{Split, weave};
use super::named::{AllNamed, Named};
use oxperf_profile::{
    Branch, BranchEnd, BranchId, CommId, ContextTree, DetailId, FrameId, HistoryId, Moment, NodeId,
    SampleGroup, ThreadId,
};

/// Samples as they came, in order. Their addresses are located when there are many, and named by whoever merges them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) samples: Vec<Sample>,
    /// The addresses of the samples one after another: a sample's own, where each of its branches comes from and leads to,
    /// its chain, innermost first.
    pub(super) addresses: Vec<(CpuMode, u64)>,
    /// What was mapped at their moments.
    pub(super) mappings: MappingsTable,
    /// What is known of their branches.
    pub(super) links: Vec<Link>,
    /// When and where they were taken, as far as that is kept.
    pub(super) taken: Vec<Taken>,
    /// Where the addresses lie, those of each table apart.
    pub(super) parts: Vec<Vec<LocatedId>>,
    /// Where the addresses lie, once the parts are put together.
    pub(super) located: Vec<LocatedId>,
}

/// A stretch of one of a batch's lists: batches are short.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    start: u32,
    end: u32,
}

impl Part {
    pub(super) fn new(start: usize, end: usize) -> Part {
        Part {
            start: start as u32,
            end: end as u32,
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A sample, its addresses and its branch apart. There are many in a batch: it takes no more room than it must.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) event: u32,
    pub(super) thread: MachineThread,
    pub(super) comm: MachineComm,
    pub(super) detail: DetailId,
    /// What is mapped for its thread.
    pub(super) mappings: MappingsId,
    /// Its branches, by their places in [`Batch::links`].
    pub(super) links: Part,
    /// Whether it stands for its only branch.
    pub(super) is_branch: bool,
    /// Whether this is the last of those that stand for one sample; it counts for the sample.
    pub(super) last: bool,
    /// The branches that its chain holds.
    pub(super) history: Option<HistoryId>,
    /// Its part of [`Batch::addresses`].
    pub(super) addresses: Part,
    pub(super) period: u64,
    pub(super) latency: u64,
    /// Its place in [`Batch::taken`], if that is kept.
    pub(super) taken: Option<u32>,
}

/// A branch of a sample, its ends apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The addresses of its ends, as recorded and in their objects, where these matter.
    pub(super) addresses: Option<[(u64, u64); 2]>,
    pub(super) flags: u64,
    /// Cycles since the branch before it, as the CPU told them.
    pub(super) cycles: u64,
}

/// Where the addresses of a sample lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'b> {
    pub(super) own: LocatedId,
    /// Where each of its branches comes from and where it leads to.
    pub(super) ends: &'b [[LocatedId; 2]],
    /// Its chain, innermost first.
    pub(super) chain: &'b [LocatedId],
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
        self.addresses.len() + self.samples.len()
    }

    /// Where the addresses of a sample lie, once they are located.
    #[inline]
    pub(super) fn places(&self, sample: &Sample) -> Option<Places<'_>> {
        let (own, rest) = self.located.get(sample.addresses.range())?.split_first()?;
        let (ends, chain) = rest.split_at_checked(2 * sample.links.range().len())?;
        Some(Places {
            own: *own,
            ends: ends.as_chunks().0,
            chain,
        })
    }

    /// Notes when and where a sample was taken.
    pub(super) fn note_taken(&mut self, event: &SampleEvent<'_>) -> u32 {
        let (time, cpu) = (
            event.sample.time.map(|time| time.0),
            event.sample.cpu.map(|cpu| cpu.0),
        );
        self.taken.push(Taken { time, cpu });
        self.taken.len() as u32 - 1
    }

    fn clear(&mut self) {
        self.samples.clear();
        self.addresses.clear();
        self.links.clear();
        self.taken.clear();
        self.parts.iter_mut().for_each(Vec::clear);
        self.located.clear();
    }
}

/// What became of the samples of one event.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) groups: Vec<SampleGroup>,
    /// The groups by what tells them apart, but for those that [`FirstOfChains`] knows: the hash of it and their places
    /// alone, as there may be many.
    places: HashTable<(u32, u32)>,
    /// By the frame of a sample without callers, the group of the last one, from 1: it is often that of the next.
    last: Vec<Option<NonZeroU32>>,
    pub(super) moments: Vec<Moment>,
    pub(super) sample_count: u64,
    pub(super) period_total: u64,
    pub(super) latency_total: u64,
}

/// Samples merged by everything that tells them apart.
#[derive(Debug, Default)]
pub(super) struct Merger {
    alike: Alike,
    pub(super) named: AllNamed,
    /// The chain that is being inserted.
    path: Vec<FrameId>,
    pub(super) chains: ContextTree,
    firsts: FirstOfChains,
    known_branches: FxHashMap<Branch, BranchId>,
    pub(super) branches: Vec<Branch>,
    pub(super) events: Vec<Merged>,
    /// The group of each sample, if that is kept.
    pub(super) numbered: Option<Vec<Numbered>>,
    seen: u64,
}

/// The group that a sample belongs to: of which event, and which of its.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) event: u32,
    pub(super) group: u32,
}

/// What samples must agree in to be merged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct GroupKey {
    /// `None` where threads do not tell samples apart.
    thread: Option<ThreadId>,
    /// `None` where not even their names do.
    comm: Option<CommId>,
    detail: DetailId,
    frame: FrameId,
    branch: Option<BranchId>,
    chain: NodeId,
    history: Option<HistoryId>,
}

impl Merger {
    fn merge(&mut self, batch: &mut Batch, named: Vec<Named>) {
        weave(batch, self.named.split());
        self.named.append(named);
        let known = std::mem::take(&mut self.named);
        batch
            .samples
            .iter()
            .for_each(|sample| self.merge_sample(batch, sample, &known));
        self.named = known;
    }

    #[inline]
    fn merge_sample(&mut self, batch: &Batch, sample: &Sample, named: &AllNamed) {
        let Some(places) = batch.places(sample) else {
            return;
        };
        let Some(frame) = named.shown(places.own) else {
            return;
        };
        let link = batch
            .links
            .get(sample.links.range().start)
            .zip(places.ends.first())
            .filter(|_| sample.is_branch);
        let branch = link.and_then(|(link, ends)| self.branch(link, *ends, named));
        if sample.is_branch && branch.is_none() {
            return;
        }
        self.path.clear();
        named.lay_out(places.chain, &mut self.path);
        let chain = self.chains.insert(&self.path);
        let taken = sample
            .taken
            .and_then(|taken| batch.taken.get(taken as usize));
        self.add((sample, taken), frame, branch, chain);
    }

    fn add(
        &mut self,
        (sample, taken): (&Sample, Option<&Taken>),
        frame: FrameId,
        branch: Option<BranchId>,
        chain: NodeId,
    ) {
        let key = GroupKey {
            thread: (self.alike == Alike::None).then_some(ThreadId(sample.thread.0)),
            comm: (self.alike != Alike::All).then_some(CommId(sample.comm.0)),
            detail: sample.detail,
            frame,
            branch,
            chain,
            history: sample.history,
        };
        let order = self.seen;
        self.seen += 1;
        let nth = sample.event as usize;
        if self.events.len() <= nth {
            self.events.resize_with(nth + 1, Merged::default);
        }
        let event = &mut self.events[nth];
        event.sample_count += u64::from(sample.last);
        event.period_total = event.period_total.wrapping_add(sample.period);
        event.latency_total = event.latency_total.wrapping_add(sample.latency);
        let index = match chain == ContextTree::ROOT {
            true => event.place(&key, self.alike),
            false => self.firsts.place(event, sample.event, &key, self.alike),
        };
        if let Some(numbered) = &mut self.numbered {
            numbered.push(Numbered {
                event: sample.event,
                group: index,
            });
        }
        if let Some(&Taken { time, cpu }) = taken {
            event.moments.push(Moment {
                time,
                cpu,
                group: index,
                period: sample.period,
            });
        }
        match event.groups.get_mut(index as usize) {
            Some(group) => {
                group.samples += 1;
                group.period = group.period.wrapping_add(sample.period);
                group.latency = group.latency.wrapping_add(sample.latency);
            }
            None => event.groups.push(key.group(sample, order)),
        }
    }
}

impl Merger {
    /// The branch of a link; `None` if one of its ends is not shown.
    fn branch(&mut self, link: &Link, ends: [LocatedId; 2], named: &AllNamed) -> Option<BranchId> {
        let [from, to] = ends.map(|end| named.shown(end));
        let [from_address, to_address] = match link.addresses {
            Some(addresses) => addresses.map(Some),
            None => [None; 2],
        };
        let from = BranchEnd {
            frame: from?,
            address: from_address,
        };
        let to = BranchEnd {
            frame: to?,
            address: to_address,
        };
        let branch = Branch {
            from,
            to,
            flags: link.flags,
        };
        let branches = &mut self.branches;
        Some(*self.known_branches.entry(branch).or_insert_with(|| {
            branches.push(branch);
            BranchId(branches.len() as u32 - 1)
        }))
    }
}

/// The first group of each chain, with its event: most chains have no other, and that needs no table to be searched.
#[derive(Debug, Default)]
struct FirstOfChains(Vec<Option<(u32, NonZeroU32)>>);

impl FirstOfChains {
    /// The place of a group of an event, the next one if it is new.
    #[inline]
    fn place(&mut self, event: &mut Merged, nth: u32, key: &GroupKey, alike: Alike) -> u32 {
        let next = event.groups.len() as u32;
        if self.0.len() <= key.chain.index() {
            self.0.resize(key.chain.index() + 1, None);
        }
        match &mut self.0[key.chain.index()] {
            Some((of, first)) => match first.get() - 1 {
                first if *of == nth && event.is(first, key, alike) => first,
                _ => event.find(key, alike),
            },
            unknown => {
                *unknown = NonZeroU32::MIN.checked_add(next).map(|place| (nth, place));
                next
            }
        }
    }
}

impl Merged {
    /// The place of a group without callers, the next one if it is new.
    #[inline]
    fn place(&mut self, key: &GroupKey, alike: Alike) -> u32 {
        let frame = key.frame.index();
        if let Some(last) = self.last.get(frame).copied().flatten() {
            let place = last.get() - 1;
            if self.is(place, key, alike) {
                return place;
            }
        }
        let place = self.find(key, alike);
        self.last.resize(self.last.len().max(frame + 1), None);
        self.last[frame] = NonZeroU32::MIN.checked_add(place);
        place
    }

    /// Whether that is the group at a place.
    #[inline]
    fn is(&self, place: u32, key: &GroupKey, alike: Alike) -> bool {
        self.groups
            .get(place as usize)
            .is_some_and(|group| GroupKey::of(group, alike) == *key)
    }

    #[inline]
    fn find(&mut self, key: &GroupKey, alike: Alike) -> u32 {
        let (groups, next) = (&self.groups, self.groups.len() as u32);
        let hash = FxBuildHasher.hash_one(key) as u32;
        let is_it = |&(known, place): &(u32, u32)| {
            known == hash && GroupKey::of(&groups[place as usize], alike) == *key
        };
        // The table wants the upper bits spread, too.
        let spread = |hash: u32| u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = self
            .places
            .entry(spread(hash), is_it, |(hash, _)| spread(*hash));
        entry.or_insert((hash, next)).get().1
    }
}

impl GroupKey {
    /// What tells a group from others.
    #[inline]
    fn of(group: &SampleGroup, alike: Alike) -> GroupKey {
        let &SampleGroup {
            thread,
            comm,
            detail,
            frame,
            branch,
            chain,
            history,
            ..
        } = group;
        let thread = (alike == Alike::None).then_some(thread);
        let comm = (alike != Alike::All).then_some(comm);
        GroupKey {
            thread,
            comm,
            detail,
            frame,
            branch,
            chain,
            history,
        }
    }

    /// A group of one sample.
    fn group(self, first: &Sample, order: u64) -> SampleGroup {
        let GroupKey {
            detail,
            frame,
            branch,
            chain,
            history,
            ..
        } = self;
        SampleGroup {
            thread: ThreadId(first.thread.0),
            comm: CommId(first.comm.0),
            detail,
            frame,
            branch,
            chain,
            history,
            samples: 1,
            period: first.period,
            latency: first.latency,
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

impl Merging {
    /// Nothing merged yet.
    pub(super) fn new(split: Split, alike: Alike) -> Merging {
        let merger = Merger {
            alike,
            named: AllNamed::new(split),
            ..Merger::default()
        };
        Merging {
            idle: Some((merger, Batch::default())),
            done: channel(),
        }
    }

    /// Keeps the group of each sample, too.
    pub(super) fn number_samples(&mut self) {
        if let Some((merger, _)) = &mut self.idle {
            merger.numbered = Some(Vec::new());
        }
    }

    /// Begins with a batch, and what its new addresses are called, as soon as the last one is done; gives an empty one
    /// that keeps that one's memory.
    pub(super) fn begin(&mut self, mut batch: Batch, named: Vec<Named>) -> Batch {
        let (mut merger, empty) = self.wait();
        let done = self.done.0.clone();
        rayon::spawn(move || {
            merger.merge(&mut batch, named);
            batch.clear();
            // Nobody waits when the session was broken off.
            let _ = done.send((merger, batch));
        });
        empty
    }

    /// Merges the last batch and gives the merger back.
    pub(super) fn finish(mut self, mut last: Batch, named: Vec<Named>) -> Merger {
        let (mut merger, _) = self.wait();
        merger.merge(&mut last, named);
        merger
    }

    fn wait(&mut self) -> Done {
        if self.idle.is_none() {
            // Where no thread could be had, nobody else merges.
            while let Some(rayon::Yield::Executed) = rayon::yield_now() {}
        }
        // This side holds a sender, too: what was begun comes back.
        self.idle
            .take()
            .or_else(|| self.done.1.recv().ok())
            .unwrap_or_default()
    }
}
