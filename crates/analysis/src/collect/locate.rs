//! Locating the addresses of a batch on all cores.
//!
//! Every core has a table of its own, so that none waits for another; an address that two of them meet is named twice and
//! gets one frame then. Shares are stretches of the batch: what is new in them stands in the order in which it came, whatever
//! the number of cores.

use std::ops::Range;

use oxperf_resolve::{Frame, FrameId as LocatedId, FrameTable};
use rayon::prelude::*;

use super::merge::Batch;

/// Most tables: each learns what the others know.
const MOST: usize = 16;

/// The tables.
#[derive(Debug)]
pub(super) struct Locating {
    tables: Vec<FrameTable>,
}

impl Locating {
    /// One table for each core.
    pub(super) fn shared() -> Locating {
        Locating::with(rayon::current_num_threads().clamp(1, MOST))
    }

    /// One table for all, so that equal numbers mean the same address.
    pub(super) fn alone() -> Locating {
        Locating::with(1)
    }

    fn with(count: usize) -> Locating {
        Locating { tables: (0..count).map(|_| FrameTable::default()).collect() }
    }

    /// Locates every address of a batch.
    pub(super) fn locate(&mut self, batch: &mut Batch) {
        batch.shares = shares(batch, self.tables.len());
        let mut located = std::mem::take(&mut batch.located);
        located.resize(batch.addresses.len(), LocatedId(0));
        let mut rest = &mut located[..];
        let parts: Vec<&mut [LocatedId]> = batch
            .shares
            .iter()
            .map(|share| {
                let (part, behind) = std::mem::take(&mut rest).split_at_mut(length(batch, share));
                rest = behind;
                part
            })
            .collect();
        let work = self.tables.par_iter_mut().zip(&batch.shares).zip(parts).with_max_len(1);
        work.for_each(|((table, share), part)| locate_share(batch, share.clone(), table, part));
        batch.located = located;
    }

    /// What each table did not know before.
    pub(super) fn take_fresh(&mut self) -> Vec<Vec<Frame>> {
        self.tables.iter_mut().map(FrameTable::take_fresh).collect()
    }
}

/// Cuts the samples into as many stretches of about as many addresses.
fn shares(batch: &Batch, count: usize) -> Vec<Range<usize>> {
    let all = batch.addresses.len();
    let cut = |nth| batch.samples.partition_point(|sample| sample.start * count < all * nth);
    let cuts = (1..count).map(cut).chain([batch.samples.len()]);
    cuts.scan(0, |from, to| Some(std::mem::replace(from, to)..to)).collect()
}

/// How many addresses the samples of a share have.
fn length(batch: &Batch, share: &Range<usize>) -> usize {
    let samples = &batch.samples[share.clone()];
    samples.first().zip(samples.last()).map_or(0, |(first, last)| last.end - first.start)
}

fn locate_share(batch: &Batch, share: Range<usize>, table: &mut FrameTable, located: &mut [LocatedId]) {
    let mut located = located.iter_mut();
    for sample in &batch.samples[share] {
        let mappings = batch.mappings.get(sample.mappings);
        let addresses = &batch.addresses[sample.start..sample.end];
        for (&(mode, ip), place) in addresses.iter().zip(located.by_ref()) {
            *place = table.intern(mappings, mode, ip);
        }
    }
}
