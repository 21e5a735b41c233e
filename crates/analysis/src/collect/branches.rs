//! Samples told by their branches: each of them stands for itself.

use std::ops::Range;

use oxperf_machine::Machine;
use oxperf_resolve::FrameTable;
use oxperf_session::SampleEvent;

use super::merge::{Batch, Link, LinkEnd, Sample};

/// What tells branches apart beside the functions and lines at their ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BranchDetail {
    /// The bits of the flags that do, as [`oxperf_abi::BranchEntry`] names them.
    pub flags: u64,
    /// The addresses of the ends do.
    pub addresses: bool,
}

/// Adds the branches of a sample to those of the batch; tells which they are.
pub(super) fn locate(
    located: &mut FrameTable,
    batch: &mut Batch,
    (machine, event): (&Machine, &SampleEvent<'_>),
    detail: BranchDetail,
) -> Range<usize> {
    let mut end = |address: u64| {
        // The recording does not tell what mode either end ran in.
        let mode = machine.guess_mode(event.thread, address);
        let place = machine.locate(event.thread, mode, address);
        let in_object = place.map_or(address, |place| place.address);
        let frame = located.intern(machine, event.thread, mode, address);
        LinkEnd { frame, address: detail.addresses.then_some((address, in_object)) }
    };
    let start = batch.links.len();
    let entries = event.sample.branch_stack.iter().flat_map(|stack| stack.entries());
    for entry in entries {
        let flags = entry.flags & detail.flags;
        batch.links.push(Link { from: end(entry.from), to: end(entry.to), flags });
    }
    start..batch.links.len()
}

/// Counts each of these branches, which weighs one, in the place of its sample.
pub(super) fn take(batch: &mut Batch, branches: Range<usize>, sample: Sample) {
    let last = branches.end;
    let each =
        branches.map(|nth| Sample { link: Some(nth as u32), last: nth + 1 == last, period: 1, ..sample });
    batch.samples.extend(each);
}
