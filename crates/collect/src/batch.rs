//! A batch of samples on its way from the session to the profile.

use std::ops::Range;

use oxperf_abi::{CpuMode, PerfTime};
use oxperf_machine::{CommId as MachineComm, ThreadId as MachineThread};
use oxperf_profile::{BranchHistoryId, DetailId};
use oxperf_resolve::{FrameId as LocatedId, MappingsId, MappingsTable};
use oxperf_session::SampleEvent;

use super::split::TableSplit;

/// Samples as they came, in order. Their addresses are located when there are many, and named by whoever merges them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) samples: Vec<BatchSample>,
    /// The addresses of the samples one after another: a sample's own, where each of its branches comes from and leads to,
    /// its chain, innermost first.
    pub(super) addresses: Vec<(CpuMode, u64)>,
    /// The mappings of their moments.
    pub(super) mappings: MappingsTable,
    /// Their branches.
    pub(super) branches: Vec<BatchBranch>,
    /// Their times and CPUs, as far as these are kept.
    pub(super) moments: Vec<SampleTime>,
    /// The located addresses, those of each table apart.
    pub(super) parts: Vec<Vec<LocatedId>>,
    /// The located addresses, once the parts are joined.
    pub(super) located: Vec<LocatedId>,
}

/// A stretch of one of a batch's lists: batches are short.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Span {
        Span {
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
pub(super) struct BatchSample {
    pub(super) event: u32,
    pub(super) thread: MachineThread,
    pub(super) comm: MachineComm,
    pub(super) detail: DetailId,
    /// The mappings of its thread.
    pub(super) mappings: MappingsId,
    /// Its branches, by their places in [`Batch::branches`].
    pub(super) branches: Span,
    /// True if it stands for its only branch.
    pub(super) is_branch: bool,
    /// True if this is the last of those that stand for one sample; it counts for the sample.
    pub(super) last: bool,
    /// The branches that its chain holds.
    pub(super) history: Option<BranchHistoryId>,
    /// Its part of [`Batch::addresses`].
    pub(super) addresses: Span,
    pub(super) period: u64,
    pub(super) latency: u64,
    /// Its place in [`Batch::moments`], if that is kept.
    pub(super) moment: Option<u32>,
}

/// A branch of a sample, its ends apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchBranch {
    /// The addresses of its ends, as recorded and in their objects, where these matter.
    pub(super) addresses: Option<[(u64, u64); 2]>,
    pub(super) flags: u64,
    /// Cycles since the branch before it, as the CPU counted them.
    pub(super) cycles: u64,
}

/// The located addresses of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocatedSample<'b> {
    pub(super) own: LocatedId,
    /// The source and the target of each of its branches.
    pub(super) ends: &'b [[LocatedId; 2]],
    /// Its chain, innermost first.
    pub(super) chain: &'b [LocatedId],
}

/// The time and CPU of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleTime {
    pub(super) time: Option<u64>,
    pub(super) cpu: Option<u32>,
}

impl Batch {
    /// The number of its addresses and samples.
    pub(super) fn len(&self) -> usize {
        self.addresses.len() + self.samples.len()
    }

    /// The addresses of some samples, each with its sample.
    pub(super) fn addresses_of<'b>(
        &'b self,
        samples: &'b [BatchSample],
    ) -> impl Iterator<Item = (&'b BatchSample, CpuMode, u64)> {
        samples.iter().flat_map(|sample| {
            let addresses = self.addresses.get(sample.addresses.range());
            let addresses = addresses.unwrap_or_default().iter();
            addresses.map(move |&(mode, ip)| (sample, mode, ip))
        })
    }

    /// The addresses of a sample, once they are located.
    #[inline]
    pub(super) fn located_sample(&self, sample: &BatchSample) -> Option<LocatedSample<'_>> {
        let (own, rest) = self.located.get(sample.addresses.range())?.split_first()?;
        let (ends, chain) = rest.split_at_checked(2 * sample.branches.range().len())?;
        Some(LocatedSample {
            own: *own,
            ends: ends.as_chunks().0,
            chain,
        })
    }

    /// Adds the time and CPU of a sample. One that stands for several moments has none of its own.
    pub(super) fn add_moment(&mut self, event: &SampleEvent<'_>) -> u32 {
        let time = event.sample.time.filter(|time| *time != PerfTime::OF_SUMS);
        let (time, cpu) = (time.map(|time| time.0), event.sample.cpu.map(|cpu| cpu.0));
        self.moments.push(SampleTime { time, cpu });
        self.moments.len() as u32 - 1
    }

    pub(super) fn clear(&mut self) {
        self.samples.clear();
        self.addresses.clear();
        self.branches.clear();
        self.moments.clear();
        self.parts.iter_mut().for_each(Vec::clear);
        self.located.clear();
    }

    /// Joins what several tables located, in the order of the addresses.
    pub(super) fn join_parts(&mut self, split: TableSplit) {
        if self.parts.len() > 1 {
            let mut parts: Vec<_> = self.parts.iter().map(|part| part.iter().copied()).collect();
            let next = |&(_, ip): &(_, u64)| parts[split.table_of(ip)].next();
            self.located.extend(self.addresses.iter().filter_map(next));
        }
    }
}
