//! Two walks over a recording for call graphs of few rows.
//!
//! Where rows count what ran in them alone, a chain matters only to the call graph of its sample's row, and few rows are
//! heavy enough to show one. So the first walk counts without chains, which is several times as fast, and the second takes
//! the samples of those rows again, with theirs.

use oxperf_machine::Machine;
use oxperf_resolve::{Names, SymbolSource};

use super::merge::Numbered;
use super::naming::Naming;
use super::{CollectOptions, Collector};
use oxperf_profile::{EventProfile, Profile, SampleGroup};

/// What a walk found.
pub struct Counts<'s> {
    /// All samples; of the first of two walks without chains.
    pub profile: Profile,
    pub(super) names: Names<'s>,
    pub(super) naming: Naming,
    /// The group of each sample, if this was the first walk.
    pub(super) samples: Vec<Numbered>,
}

/// What the second walk is to take.
pub(super) struct Second {
    samples: Vec<Numbered>,
    /// For each event, whether samples of each of its groups are taken again.
    wanted: Vec<Vec<bool>>,
    /// The sample that comes next.
    next: usize,
    /// The samples that were taken, as numbers among all.
    taken: Vec<u64>,
}

impl<'s> Collector<'s> {
    /// For the first of two walks: see [`CollectOptions::can_walk_twice`].
    pub fn for_counts(
        events: Vec<EventProfile>,
        source: &'s dyn SymbolSource,
        options: CollectOptions,
    ) -> Collector<'s> {
        let mut collector = Collector::new(
            events,
            source,
            CollectOptions {
                chains: false,
                ..options
            },
        );
        collector.merging.number_samples();
        collector
    }

    /// What the first of two walks found.
    pub fn finish_counts(self, machine: &Machine) -> Counts<'s> {
        self.finish_walk(machine)
    }

    /// For the second walk, which meets the same samples in the same order: takes those of the wanted groups of each event
    /// again, with their chains.
    pub fn for_chains(
        counts: Counts<'s>,
        wanted: Vec<Vec<bool>>,
        source: &'s dyn SymbolSource,
        options: CollectOptions,
    ) -> Collector<'s> {
        let Counts {
            profile,
            names,
            naming,
            samples,
        } = counts;
        let second = Some(Second {
            samples,
            wanted,
            next: 0,
            taken: Vec::new(),
        });
        Collector {
            profile,
            names,
            naming,
            second,
            ..Collector::new(Vec::new(), source, options)
        }
    }
}

impl Second {
    /// Whether the next sample is taken.
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

    fn wants(&self, Numbered { event, group }: Numbered) -> bool {
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
                .is_some_and(|group| self.wants(Numbered { event, group }))
        });
        let number = |order: u64| self.taken.get(order as usize).copied().unwrap_or(order);
        groups.extend(taken.into_iter().map(|group| SampleGroup {
            order: number(group.order),
            ..group
        }));
        groups.sort_by_key(|group| group.order);
    }
}
