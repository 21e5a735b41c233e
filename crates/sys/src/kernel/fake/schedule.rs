//! The counters of a fake kernel: which events have one at a moment, and what they count while time passes.
//!
//! A PMU has so many counters. Its groups take turns when they do not all fit, pinned ones first, as in the kernel:
//!
//! ```text
//!  slice    1        2        3             two counters, groups A (2 events), B and C (1 each)
//!  counts   A        B C      C             each slice begins with the next group; the first that does not fit ends it
//! ```

use super::calls::OpenedEvent;
use oxperf_abi::{AttrFlags, EventType, SoftwareId};
use std::time::Duration;

/// The time after which groups that share a PMU take turns.
pub(super) const TURN: Duration = Duration::from_millis(4);

/// A PMU with a limited number of counters. Events of other PMUs always count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FakePmu {
    kinds: Vec<EventType>,
    counters: usize,
}

impl FakePmu {
    /// The PMU of a CPU's core, which counts generic, cache and raw events.
    pub fn core(counters: usize) -> FakePmu {
        FakePmu {
            kinds: vec![EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW],
            counters,
        }
    }

    /// The PMU with this number.
    pub fn numbered(kind: EventType, counters: usize) -> FakePmu {
        FakePmu {
            kinds: vec![kind],
            counters,
        }
    }

    pub(super) fn counts(&self, event: &OpenedEvent) -> bool {
        self.kinds.contains(&event.attr.kind)
    }

    /// Returns whether a group of so many of its events can ever count.
    pub(super) fn holds(&self, members: usize) -> bool {
        members <= self.counters
    }
}

/// An event's counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LiveCounter {
    /// Enabled by itself; it counts only while its leader is, too.
    pub(super) on: bool,
    /// A pinned event that did not get its counter.
    pub(super) failed: bool,
    /// Time enabled, ns.
    pub(super) enabled: u64,
    /// Time counting, ns.
    pub(super) running: u64,
    /// The count.
    pub(super) value: u64,
    /// Events that count a second.
    pub(super) rate: u64,
    /// Parts of an event, in its 10^-9.
    rest: u64,
    /// The script gives it no counter.
    pub(super) denied: bool,
    /// Overflows until it stops, once it was refreshed.
    pub(super) overflows_left: Option<u32>,
}

impl LiveCounter {
    /// A counter of an event that was just opened.
    pub(super) fn new(event: &OpenedEvent, rate: u64) -> LiveCounter {
        LiveCounter {
            on: !event.attr.flags.contains(AttrFlags::DISABLED),
            rate,
            ..LiveCounter::default()
        }
    }

    /// Turns it on or off; a pinned event may ask for its counter again.
    pub(super) fn switch(&mut self, on: bool) {
        self.on = on;
        self.failed = false;
    }

    fn count(&mut self, nanoseconds: u64) {
        const SECOND: u128 = 1_000_000_000;
        let parts = u128::from(self.rate) * u128::from(nanoseconds) + u128::from(self.rest);
        self.rest = (parts % SECOND) as u64;
        self.value = self.value.wrapping_add((parts / SECOND) as u64);
        self.running += nanoseconds;
    }
}

/// The rate of an event that the test does not script: clocks count time, all else nothing.
pub(super) fn natural_rate(event: &OpenedEvent) -> u64 {
    let clocks = [SoftwareId::CpuClock, SoftwareId::TaskClock].map(|id| id as u64);
    let is_clock = event.attr.kind == EventType::SOFTWARE && clocks.contains(&event.attr.config);
    if is_clock { 1_000_000_000 } else { 0 }
}

/// Events with their counters, by number.
pub(super) struct Counters<'a> {
    pub(super) opened: &'a [OpenedEvent],
    pub(super) live: &'a mut [LiveCounter],
    pub(super) pmus: &'a [FakePmu],
}

impl Counters<'_> {
    /// Lets time pass, no more than a turn, the `turn`-th since the beginning.
    pub(super) fn pass(&mut self, nanoseconds: u64, turn: usize) {
        let runs = self.placed(turn);
        for (number, runs) in runs.into_iter().enumerate() {
            if !self.is_enabled(number) {
                continue;
            }
            self.live[number].enabled += nanoseconds;
            if runs {
                self.live[number].count(nanoseconds);
            }
        }
    }

    /// Returns whether an event and its leader are on.
    fn is_enabled(&self, number: usize) -> bool {
        let is_on = |number: usize| self.live[number].on && !self.live[number].failed;
        is_on(number) && is_on(self.leader(number))
    }

    fn leader(&self, number: usize) -> usize {
        self.opened[number].group.unwrap_or(number)
    }

    fn has(&self, number: usize, flag: AttrFlags) -> bool {
        self.opened[number].attr.flags.contains(flag)
    }

    /// Says of each event whether it has a counter in this turn; pinned ones without fail.
    fn placed(&mut self, turn: usize) -> Vec<bool> {
        if self.pmus.is_empty() && self.live.iter().all(|live| !live.denied) {
            return vec![true; self.opened.len()];
        }
        let mut placed = vec![false; self.opened.len()];
        let mut waiting: Vec<usize> = Vec::new();
        for leader in 0..self.opened.len() {
            if self.leader(leader) != leader || !self.is_enabled(leader) {
                continue;
            }
            match self.pmu_of(leader) {
                _ if self.is_denied(leader) => self.refuse(leader),
                None => self.place(leader, &mut placed),
                Some(_) => waiting.push(leader),
            }
        }
        while let Some(&first) = waiting.first() {
            let (rivals, others) = waiting
                .into_iter()
                .partition(|&leader| self.are_rivals(first, leader));
            self.share(rivals, turn, &mut placed);
            waiting = others;
        }
        placed
    }

    /// The limited PMU that a group needs.
    fn pmu_of(&self, leader: usize) -> Option<usize> {
        self.pmus.iter().position(|pmu| self.need(leader, pmu) > 0)
    }

    /// Returns whether two groups want counters of one PMU for one task and CPU.
    fn are_rivals(&self, one: usize, other: usize) -> bool {
        let site = |leader: usize| (self.opened[leader].task, self.opened[leader].cpu);
        self.pmu_of(one) == self.pmu_of(other) && site(one) == site(other)
    }

    /// Gives the counters of a PMU to its groups: to pinned ones first, then to the others in turn.
    fn share(&mut self, rivals: Vec<usize>, turn: usize, placed: &mut [bool]) {
        let Some(pmu) = rivals.first().and_then(|&leader| self.pmu_of(leader)) else {
            return;
        };
        let (pinned, mut flexible): (Vec<usize>, Vec<usize>) = rivals
            .into_iter()
            .partition(|&leader| self.has(leader, AttrFlags::PINNED));
        let mut free = self.pmus[pmu].counters;
        for leader in pinned {
            if !self.try_place(leader, pmu, &mut free, placed) {
                self.refuse(leader);
            }
        }
        let first = turn % flexible.len().max(1);
        flexible.rotate_left(first);
        for leader in flexible {
            if !self.try_place(leader, pmu, &mut free, placed) {
                break;
            }
        }
    }

    /// Places a group where its counters are free, an exclusive one only where all are.
    fn try_place(&self, leader: usize, pmu: usize, free: &mut usize, placed: &mut [bool]) -> bool {
        let all = self.pmus[pmu].counters;
        let need = match self.has(leader, AttrFlags::EXCLUSIVE) {
            true => all,
            false => self.need(leader, &self.pmus[pmu]),
        };
        let fits = need <= *free;
        if fits {
            *free -= need;
            self.place(leader, placed);
        }
        fits
    }

    fn members(&self, leader: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.opened.len()).filter(move |&number| self.leader(number) == leader)
    }

    fn is_denied(&self, leader: usize) -> bool {
        self.members(leader).any(|number| self.live[number].denied)
    }

    /// Counters of `pmu` that the group takes.
    fn need(&self, leader: usize, pmu: &FakePmu) -> usize {
        let counted = |number: &usize| self.live[*number].on && pmu.counts(&self.opened[*number]);
        self.members(leader).filter(counted).count()
    }

    fn place(&self, leader: usize, placed: &mut [bool]) {
        self.members(leader)
            .for_each(|number| placed[number] = true);
    }

    fn refuse(&mut self, leader: usize) {
        self.live[leader].failed = self.has(leader, AttrFlags::PINNED);
    }
}
