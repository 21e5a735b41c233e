//! What a test tells a fake kernel beforehand.

use super::rings::TraceStream;
use super::schedule::LiveCounter;
use super::schedule::natural_rate;
use super::{FakeCount, FakeKernel, FakeOverflow, FakePmu, OpenedEvent, lock};
use crate::{Errno, OpenRequest, RingPages};

/// Decides which openings fail, and how.
type Refusal = Box<dyn Fn(&OpenRequest<'_>) -> Option<Errno> + Send + Sync>;
/// The events that an opened event counts a second.
type Rate = Box<dyn Fn(&OpenedEvent) -> Option<u64> + Send + Sync>;
/// The record of an overflow.
pub(super) type SampleWriter = Box<dyn Fn(&FakeOverflow) -> Vec<u8> + Send + Sync>;

/// The answers that do not change.
#[derive(Default)]
pub(super) struct Script {
    refusals: Vec<Refusal>,
    rates: Vec<Rate>,
    pub(super) samples: Option<SampleWriter>,
    pub(super) pmus: Vec<FakePmu>,
    /// Events that never get a counter.
    denied: Vec<usize>,
    largest_ring: Option<usize>,
    pub(super) has_aux: bool,
}

impl Script {
    pub(super) fn refusal(&self, request: &OpenRequest<'_>) -> Option<Errno> {
        self.refusals.iter().find_map(|refusal| refusal(request))
    }

    pub(super) fn allows_ring(&self, pages: RingPages) -> bool {
        self.largest_ring.is_none_or(|most| pages.count() <= most)
    }

    /// Returns whether a group with this event could ever count.
    pub(super) fn group_fits(&self, opened: &[OpenedEvent], new: &OpenedEvent) -> bool {
        let leader = new.group;
        let fits = |pmu: &FakePmu| {
            let with_it = |(number, event): (usize, &OpenedEvent)| {
                let is_of_group =
                    Some(number) == leader || leader.is_some() && event.group == leader;
                is_of_group && pmu.counts(event)
            };
            let others = opened.iter().enumerate().filter(|place| with_it(*place));
            !pmu.counts(new) || pmu.holds(others.count() + 1)
        };
        self.pmus.iter().all(fits)
    }

    /// The counter of an event that is being opened.
    pub(super) fn counter(&self, number: usize, event: &OpenedEvent) -> LiveCounter {
        let scripted = self.rates.iter().find_map(|rate| rate(event));
        let rate = scripted.unwrap_or_else(|| natural_rate(event));
        let mut counter = LiveCounter::new(event, rate);
        counter.denied = self.denied.contains(&number);
        counter
    }
}

impl FakeKernel {
    /// A kernel that takes everything.
    pub fn new() -> FakeKernel {
        FakeKernel::default()
    }

    /// Makes openings fail with the number that `refusal` returns for them.
    #[must_use]
    pub fn refusing(
        mut self,
        refusal: impl Fn(&OpenRequest<'_>) -> Option<Errno> + Send + Sync + 'static,
    ) -> FakeKernel {
        self.script.refusals.push(Box::new(refusal));
        self
    }

    /// Makes rings above `pages` fail with `EPERM`, as the limit of locked memory does.
    #[must_use]
    pub fn with_largest_ring(mut self, pages: usize) -> FakeKernel {
        self.script.largest_ring = Some(pages);
        self
    }

    /// Writes `records` into every ring, and again whenever its reader consumes any: events that never cease.
    #[must_use]
    pub fn with_restless_rings(self, records: Vec<u8>) -> FakeKernel {
        lock(&self.state).restless = records;
        self
    }

    /// Lets events have AUX areas; without it they are refused, as by a machine without hardware traces.
    #[must_use]
    pub fn with_aux(mut self) -> FakeKernel {
        self.script.has_aux = true;
        self
    }

    /// Lets events have AUX areas, into which each writes `stream` again and again, so many bytes a second while it is
    /// enabled, with the records that announce it. What does not fit is lost, and the next record says so.
    #[must_use]
    pub fn with_aux_stream(self, stream: Vec<u8>, bytes_a_second: u64) -> FakeKernel {
        lock(&self.state).stream = TraceStream {
            bytes: stream,
            rate: bytes_a_second,
        };
        self.with_aux()
    }

    /// Sets what the reads of the event with this number find, in their order; the last count stays. A read of a group
    /// is a read of each of its events.
    #[must_use]
    pub fn with_counts(self, event: usize, counts: &[FakeCount]) -> FakeKernel {
        lock(&self.state).counts.set(event, counts.to_vec());
        self
    }

    /// Sets how many events each opened event counts a second, where `rate` knows; the first rule that does decides.
    #[must_use]
    pub fn with_rates(
        mut self,
        rate: impl Fn(&OpenedEvent) -> Option<u64> + Send + Sync + 'static,
    ) -> FakeKernel {
        self.script.rates.push(Box::new(rate));
        self
    }

    /// Gives a PMU a number of counters: a group that is larger is refused, and groups that do not all fit take turns.
    #[must_use]
    pub fn with_pmu(mut self, pmu: FakePmu) -> FakeKernel {
        self.script.pmus.push(pmu);
        self
    }

    /// Never gives the event with this number a counter: pinned it fails, otherwise it is enabled and never counts.
    #[must_use]
    pub fn without_counter(mut self, event: usize) -> FakeKernel {
        self.script.denied.push(event);
        self
    }

    /// Writes what `sample` returns at each overflow of an event that samples by period, while time passes.
    #[must_use]
    pub fn with_samples(
        mut self,
        sample: impl Fn(&FakeOverflow) -> Vec<u8> + Send + Sync + 'static,
    ) -> FakeKernel {
        self.script.samples = Some(Box::new(sample));
        self
    }
}
