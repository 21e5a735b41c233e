//! The branches of samples: in the place of the samples, or beside them.

use oxperf_abi::{BranchEntry, CpuMode};
use oxperf_machine::Machine;
use oxperf_session::SampleEvent;

use super::batch::{Batch, BatchBranch, BatchSample, Span};
use super::options::BranchDetail;

/// A sample that its branches stand for.
pub(super) struct BranchingSample {
    /// Its own address.
    pub(super) own: (CpuMode, u64),
    pub(super) sample: BatchSample,
    pub(super) detail: BranchDetail,
}

/// Puts a sample's branches in its place; each of them weighs one. The sample's own address goes before the ends of each.
pub(super) fn take(
    batch: &mut Batch,
    machine: &Machine,
    event: &SampleEvent<'_>,
    sample: &BranchingSample,
) {
    let mut entries = entries(event).peekable();
    while let Some(entry) = entries.next() {
        let (start, first_branch) = (batch.addresses.len(), batch.branches.len());
        batch.addresses.push(sample.own);
        push(batch, machine, event, &entry, sample.detail);
        batch.samples.push(BatchSample {
            branches: Span::new(first_branch, batch.branches.len()),
            is_branch: true,
            last: entries.peek().is_none(),
            period: 1,
            addresses: Span::new(start, batch.addresses.len()),
            ..sample.sample
        });
    }
}

/// Adds the branches of a sample that stands for itself; returns their places.
pub(super) fn take_beside(batch: &mut Batch, machine: &Machine, event: &SampleEvent<'_>) -> Span {
    let first = batch.branches.len();
    for entry in entries(event) {
        push(batch, machine, event, &entry, BranchDetail::default());
    }
    Span::new(first, batch.branches.len())
}

fn entries<'a>(event: &'a SampleEvent<'_>) -> impl Iterator<Item = BranchEntry> + 'a {
    let stack = event.sample.branch_stack.iter();
    stack.flat_map(|stack| stack.entries())
}

/// Adds a branch and the addresses of its ends.
fn push(
    batch: &mut Batch,
    machine: &Machine,
    event: &SampleEvent<'_>,
    entry: &BranchEntry,
    detail: BranchDetail,
) {
    // The recording leaves out the mode that either end ran in.
    let end = |address| (machine.guess_mode(event.thread, address), address);
    let ends = [entry.from, entry.to].map(end);
    let addresses = detail.addresses.then(|| {
        ends.map(|(mode, address)| {
            let place = machine.locate(event.thread, mode, address);
            (address, place.map_or(address, |place| place.address))
        })
    });
    batch.branches.push(BatchBranch {
        addresses,
        flags: entry.flags & detail.flags,
        cycles: u64::from(entry.cycles()),
    });
    batch.addresses.extend(ends);
}
