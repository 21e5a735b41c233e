//! Two passes over a recording for call graphs of few rows.
//!
//! Where rows count what ran in them alone, a chain matters only to the call graph of its sample's row, and few rows are
//! heavy enough to show one. So the first pass counts without chains, which is several times as fast, and the second takes
//! the samples of those rows again, with theirs.

use oxperf_profile::{Profile, SampleGroup};
use oxperf_resolve::Names;

use super::frame_namer::FrameNamer;
use super::merger::GroupOfSample;

/// The result of a pass.
pub struct FirstPass<'s> {
    /// All samples; of the first of two passes without chains.
    pub profile: Profile,
    pub(super) names: Names<'s>,
    pub(super) namer: FrameNamer,
    /// The group of each sample, if this was the first of two passes.
    pub(super) samples: Vec<GroupOfSample>,
}

/// The samples that a second pass takes.
pub(super) struct SecondPass {
    samples: Vec<GroupOfSample>,
    /// For each event, whether samples of each of its groups are taken again.
    wanted: Vec<Vec<bool>>,
    /// The sample that comes next.
    next: usize,
    /// The samples that were taken, as numbers among all.
    taken: Vec<u64>,
}

impl SecondPass {
    /// Takes the samples of the wanted groups of each event, given the group of each sample.
    pub(super) fn new(samples: Vec<GroupOfSample>, wanted: Vec<Vec<bool>>) -> SecondPass {
        SecondPass {
            samples,
            wanted,
            next: 0,
            taken: Vec::new(),
        }
    }

    /// True if the next sample is taken.
    #[inline]
    pub(super) fn takes_next(&mut self) -> bool {
        let number = self.next;
        self.next += 1;
        let takes = self
            .samples
            .get(number)
            .is_some_and(|sample| self.wants(*sample));
        if takes {
            self.taken.push(number as u64);
        }
        takes
    }

    fn wants(&self, sample: GroupOfSample) -> bool {
        let GroupOfSample { event, group } = sample;
        let wanted = self
            .wanted
            .get(event as usize)
            .and_then(|groups| groups.get(group as usize));
        wanted.copied().unwrap_or(false)
    }

    /// Puts the groups that were taken again, told apart by their chains, in the place of those that they were.
    pub(super) fn join(
        &self,
        event: usize,
        groups: &mut Vec<SampleGroup>,
        taken: Vec<SampleGroup>,
    ) {
        let event = event as u32;
        let mut numbers = 0..;
        groups.retain(|_| {
            !numbers
                .next()
                .is_some_and(|group| self.wants(GroupOfSample { event, group }))
        });
        let number = |order: u64| self.taken.get(order as usize).copied().unwrap_or(order);
        groups.extend(taken.into_iter().map(|group| SampleGroup {
            order: number(group.order),
            ..group
        }));
        groups.sort_by_key(|group| group.order);
    }
}
