//! Samples told by their branches: each of them stands for itself.

use oxperf_abi::{BranchEntry, CpuMode};
use oxperf_machine::Machine;
use oxperf_session::SampleEvent;

use super::merge::{Batch, Link, Part, Sample};

/// What tells branches apart beside the functions and lines at their ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BranchDetail {
    /// The bits of the flags that do, as [`oxperf_abi::BranchEntry`] names them.
    pub flags: u64,
    /// The addresses of the ends do.
    pub addresses: bool,
}

/// Puts a sample's branches in its place; each of them weighs one. The sample's own address goes before the ends of each.
pub(super) fn take(
    batch: &mut Batch,
    at: (&Machine, &SampleEvent<'_>),
    (own, sample): ((CpuMode, u64), Sample),
    detail: BranchDetail,
) {
    let entries =
        at.1.sample
            .branch_stack
            .iter()
            .flat_map(|stack| stack.entries());
    let mut entries = entries.peekable();
    while let Some(entry) = entries.next() {
        let (start, first_link) = (batch.addresses.len(), batch.links.len());
        batch.addresses.push(own);
        push(batch, at, &entry, detail);
        let links = Part::new(first_link, batch.links.len());
        let (last, addresses) = (
            entries.peek().is_none(),
            Part::new(start, batch.addresses.len()),
        );
        batch.samples.push(Sample {
            links,
            is_branch: true,
            last,
            period: 1,
            addresses,
            ..sample
        });
    }
}

/// Adds the branches of a sample that stands for itself; tells which they are.
pub(super) fn take_beside(batch: &mut Batch, at: (&Machine, &SampleEvent<'_>)) -> Part {
    let first = batch.links.len();
    let entries =
        at.1.sample
            .branch_stack
            .iter()
            .flat_map(|stack| stack.entries());
    entries.for_each(|entry| push(batch, at, &entry, BranchDetail::default()));
    Part::new(first, batch.links.len())
}

/// Adds a branch and the addresses of its ends.
fn push(
    batch: &mut Batch,
    (machine, event): (&Machine, &SampleEvent<'_>),
    entry: &BranchEntry,
    detail: BranchDetail,
) {
    // The recording does not tell what mode either end ran in.
    let ends =
        [entry.from, entry.to].map(|address| (machine.guess_mode(event.thread, address), address));
    let both = |(mode, address): (CpuMode, u64)| {
        let place = machine.locate(event.thread, mode, address);
        (address, place.map_or(address, |place| place.address))
    };
    let addresses = detail.addresses.then(|| ends.map(both));
    let (flags, cycles) = (entry.flags & detail.flags, u64::from(entry.cycles()));
    batch.links.push(Link {
        addresses,
        flags,
        cycles,
    });
    batch.addresses.extend(ends);
}
