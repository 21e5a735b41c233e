//! What happens on a fake kernel while the test lets time pass, or at its word.

use super::rings::{FakeTrace, FakeTraceCount, Origin};
use super::schedule::{Counters, TURN};
use super::script::{SampleWriter, Script};
use super::{FakeKernel, State, id_of};
use crate::FakePage;
use oxperf_abi::{AttrFlags, EventId, PerfTime, RecordType, Tid};
use std::time::Duration;

/// An overflow of an event that samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FakeOverflow {
    /// The event's number.
    pub event: usize,
    /// Its id.
    pub id: EventId,
    /// The moment, ns since the beginning.
    pub time: u64,
    /// The events since the overflow before.
    pub period: u64,
}

impl FakeOverflow {
    /// A sample whose body is these words: the header and they.
    pub fn record(&self, words: &[u64]) -> Vec<u8> {
        let size = (8 + words.len() * 8) as u16;
        let mut bytes = Vec::with_capacity(size.into());
        bytes.extend(RecordType::SAMPLE.0.to_ne_bytes());
        bytes.extend(0u16.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }
}

impl FakeKernel {
    /// The time since the beginning.
    pub fn now(&self) -> PerfTime {
        PerfTime(self.state().now)
    }

    /// Lets time pass: events that are enabled count, groups that do not fit take turns every 4 ms, events that sample
    /// write records, and hardware writes trace.
    pub fn advance(&self, time: Duration) {
        let mut left = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let mut state = self.state();
        while left > 0 {
            let step = left.min(state.until_next_turn());
            state.pass(&self.script, step);
            left -= step;
        }
    }

    /// The traced tasks execute a program: events that wait for that are enabled.
    pub fn exec(&self) {
        let mut state = self.state();
        for number in 0..state.opened.len() {
            let flags = state.opened[number].attr.flags;
            if flags.contains(AttrFlags::ENABLE_ON_EXEC) {
                state.live[number].switch(true);
            }
        }
    }

    /// A task ends: its events stop, and hang up.
    pub fn exit(&self, thread: Tid) {
        let mut state = self.state();
        for number in 0..state.opened.len() {
            if state.opened[number].task == super::OpenedTask::Thread(thread) {
                state.end(number);
            }
        }
    }

    /// Writes records of the event with this number into the ring that takes them; false when they do not fit, or there is no
    /// such ring.
    pub fn write_records(&self, event: usize, records: &[u8]) -> bool {
        self.state().write(event, records)
    }

    /// What hardware did with the AUX area of the event with this number while time passed; nothing without an area.
    pub fn traced(&self, event: usize) -> FakeTraceCount {
        let state = self.state();
        state
            .traces
            .get(&event)
            .map_or_else(FakeTraceCount::default, FakeTrace::count)
    }

    /// Writes trace into the AUX area of the event with this number as hardware would, without a record; false when it does
    /// not fit, or there is no such area. An area for snapshots takes everything.
    pub fn write_aux(&self, event: usize, trace: &[u8]) -> bool {
        let mut state = self.state();
        let area = state.traces.get_mut(&event);
        area.is_some_and(|area| area.writer.write(trace))
    }

    /// Changes the page that the counter of this event is read by without a call, which is that of its ring where it has one.
    /// Nothing when neither was mapped.
    pub fn publish_page(&self, event: usize, page: &FakePage) {
        if let Some(writer) = self.state().pages.get(&event) {
            writer.publish(page);
        }
    }
}

impl State {
    fn until_next_turn(&self) -> u64 {
        let turn = TURN.as_nanos() as u64;
        turn - self.now % turn
    }

    /// Lets a part of a turn pass.
    fn pass(&mut self, script: &Script, step: u64) {
        let before: Vec<(u64, u64)> = self
            .live
            .iter()
            .map(|live| (live.value, live.running))
            .collect();
        let mut counters = Counters {
            opened: &self.opened,
            live: &mut self.live,
            pmus: &script.pmus,
        };
        counters.pass(step, self.turn);
        self.overflow(&before, script.samples.as_ref());
        self.trace(&before);
        self.now += step;
        if self.until_next_turn() == TURN.as_nanos() as u64 {
            self.turn += 1;
        }
    }

    /// Writes the samples of this step, in their order of time.
    fn overflow(&mut self, before: &[(u64, u64)], samples: Option<&SampleWriter>) {
        let mut overflows: Vec<FakeOverflow> = (0..self.live.len())
            .flat_map(|number| self.overflows(number, before[number].0))
            .collect();
        overflows.sort_by_key(|overflow| (overflow.time, overflow.event));
        for overflow in overflows {
            if self.spend(overflow.event)
                && let Some(sample) = samples
            {
                self.write_at(overflow.event, overflow.time, &sample(&overflow));
            }
        }
    }

    /// The overflows of an event since it stood at `before`.
    fn overflows(&self, number: usize, before: u64) -> Vec<FakeOverflow> {
        let (attr, live) = (&self.opened[number].attr, &self.live[number]);
        let period = attr.sample_period;
        if period == 0 || attr.flags.contains(AttrFlags::FREQ) {
            return Vec::new();
        }
        let moment = |count: u64| {
            let since = u128::from((count * period).saturating_sub(before)) * 1_000_000_000;
            self.now + (since / u128::from(live.rate.max(1))) as u64
        };
        let counts = before / period + 1..live.value / period + 1;
        let overflow = |count| FakeOverflow {
            event: number,
            id: id_of(number),
            time: moment(count),
            period,
        };
        counts.map(overflow).collect()
    }

    /// Counts an overflow down; false for one after the last that the event was refreshed for. The last one stops the event
    /// and wakes its reader.
    fn spend(&mut self, number: usize) -> bool {
        let live = &mut self.live[number];
        match &mut live.overflows_left {
            None => return true,
            Some(0) => return false,
            Some(left) => *left -= 1,
        }
        if live.overflows_left == Some(0) {
            live.on = false;
            self.wake_reader(number);
        }
        true
    }

    /// Makes the event readable that takes the records of this one.
    fn wake_reader(&mut self, number: usize) {
        let output = self.outputs.get(&number).copied().unwrap_or(number);
        if let Some(ring) = self.rings.get_mut(&output) {
            ring.wake_up();
        }
    }

    /// Lets hardware write trace for events that counted in this step, and announces it. An event without space stops until it
    /// is enabled again.
    fn trace(&mut self, before: &[(u64, u64)]) {
        let numbers: Vec<usize> = self.traces.keys().copied().collect();
        for number in numbers {
            let ran = self.live[number].running - before[number].1;
            let area = self.traces.get_mut(&number);
            let Some(step) = area.and_then(|area| area.pass(&self.stream, ran)) else {
                continue;
            };
            let origin = Origin {
                event: &self.opened[number],
                id: id_of(number),
                time: self.now,
            };
            let record = origin.record(RecordType::AUX, &step.words);
            self.write(number, &record);
            self.live[number].on &= !step.is_full;
            if step.is_full || step.wakes {
                self.wake_reader(number);
            }
        }
    }

    /// The task of an event has ended.
    fn end(&mut self, number: usize) {
        self.live[number].on = false;
        for entry in &mut self.descriptors {
            if entry.number == number {
                entry.far = None;
            }
        }
        if let Some(ring) = self.rings.get_mut(&number) {
            ring.bell = None;
        }
    }
}
