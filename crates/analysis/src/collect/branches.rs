//! Samples told by their branches: each of them stands for itself.

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

/// Adds every branch of a sample, which weighs one.
pub(super) fn take(
    located: &mut FrameTable,
    batch: &mut Batch,
    (machine, event): (&Machine, &SampleEvent<'_>),
    sample: Sample,
    detail: BranchDetail,
) {
    let mut end = |address: u64| {
        // The recording does not tell what mode either end ran in.
        let mode = machine.guess_mode(event.thread, address);
        let place = machine.locate(event.thread, mode, address);
        let in_object = place.map_or(address, |place| place.address);
        let frame = located.intern(machine, event.thread, mode, address);
        LinkEnd { frame, address: detail.addresses.then_some((address, in_object)) }
    };
    let entries = event.sample.branch_stack.iter().flat_map(|stack| stack.entries());
    let mut entries = entries.peekable();
    while let Some(entry) = entries.next() {
        let link = Some(batch.links.len() as u32);
        let flags = entry.flags & detail.flags;
        batch.links.push(Link { from: end(entry.from), to: end(entry.to), flags });
        batch.samples.push(Sample { link, last: entries.peek().is_none(), period: 1, ..sample });
    }
}
