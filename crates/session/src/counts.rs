//! The counts of a recording that `stat record` made: what each counter said at the end of each round.
//!
//! [`CountCollector`] takes the records as they stand in the file and says where a round ends; what is then collected is
//! that round's. The memory that it takes is in proportion to the records.

mod nameless;

use std::collections::{BTreeMap, BTreeSet};

use oxperf_abi::{CountReading, Cpu, EventId, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_wire::user::{
    CpuMap, EventUpdate, Stat, StatConfig, StatRound, ThreadMap, ThreadMapEntry, Update,
};
use oxperf_wire::{Cursor, Endian, WireError};

use crate::EventTable;
use nameless::Nameless;

/// Places where events should have been counted, all together: a hostile recording names many in a few bytes.
const MOST_PLACES: usize = 1 << 18;

/// The id of counters that no kernel has, in all events that are counted so.
const NO_ID: EventId = EventId(0);

/// The place of a counter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CounterPlace {
    /// The CPU; `None` where a task was followed over all.
    pub cpu: Option<Cpu>,
    /// The index of the thread in the list of threads.
    pub thread: u32,
}

/// What a counter said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordedCounter {
    /// At the end of this round.
    pub now: CountReading,
    /// At the end of the round before.
    pub before: CountReading,
}

impl RecordedCounter {
    /// What was counted in this round.
    pub fn in_round(&self) -> CountReading {
        self.now.since(self.before)
    }
}

/// An event that was counted.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedEvent {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty for none.
    pub unit: String,
    /// The factor from a count to that unit.
    pub scale: f64,
    cpus: Option<CpuMap>,
    counters: BTreeMap<CounterPlace, RecordedCounter>,
}

impl RecordedEvent {
    fn new(name: &str) -> RecordedEvent {
        RecordedEvent {
            name: name.to_owned(),
            unit: String::new(),
            scale: 1.0,
            cpus: None,
            counters: BTreeMap::new(),
        }
    }

    /// Its counter at a place, if that said something.
    pub fn at(&self, place: CounterPlace) -> Option<&RecordedCounter> {
        self.counters.get(&place)
    }

    /// Its counters that said something, by CPU and thread.
    pub fn counters(&self) -> impl Iterator<Item = (CounterPlace, &RecordedCounter)> {
        self.counters
            .iter()
            .map(|(place, counter)| (*place, counter))
    }
}

/// A thread that was counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedThread {
    /// Its id; `None` for any.
    pub tid: Option<Tid>,
    /// Its name.
    pub comm: String,
}

/// The settings that counts were made with, as STAT_CONFIG numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CountSettings {
    /// What counts are added up by.
    pub aggregation: Option<u64>,
    /// The level of the caches that counts are added up by; `None` in recordings of older tools.
    pub cache_level: Option<u64>,
    /// Milliseconds between rounds; 0 of a single one.
    pub interval: u64,
    /// Counts are scaled up for the time in which they did not run.
    pub scales: bool,
}

/// Counts that could not be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LostCountRecords {
    /// Records that could not be decoded.
    pub undecodable: u64,
    /// Counts with an id that no event has.
    pub unknown_ids: u64,
    /// Counts behind the last round that ended.
    pub without_round: u64,
}

/// Collects the counts of a recording, round by round.
#[derive(Clone, Debug)]
pub struct CountCollector {
    endian: Endian,
    table: EventTable,
    events: Vec<RecordedEvent>,
    threads: Vec<RecordedThread>,
    cpus: Option<CpuMap>,
    settings: Option<CountSettings>,
    lost: LostCountRecords,
    rounds: u64,
    /// The events that records name by no id.
    nameless: Nameless,
    /// For each event the places where it should have been counted.
    expected: Vec<Vec<CounterPlace>>,
}

impl CountCollector {
    /// Collects the counts of these events.
    pub fn new(table: &EventTable, endian: Endian) -> CountCollector {
        let mut collector = CountCollector {
            endian,
            table: table.clone(),
            events: Vec::new(),
            threads: Vec::new(),
            cpus: None,
            settings: None,
            lost: LostCountRecords::default(),
            rounds: 0,
            expected: Vec::new(),
            nameless: Nameless::default(),
        };
        collector.set_events(table);
        collector
    }

    /// Takes the events of a stream that described more of them, or renamed some.
    pub fn set_events(&mut self, table: &EventTable) {
        let known = self.events.len();
        let before = std::mem::replace(&mut self.table, table.clone());
        let renamed = before.events().iter().zip(table.events());
        for (event, (before, now)) in self.events.iter_mut().zip(renamed) {
            if before.name != now.name {
                event.name.clone_from(&now.name);
            }
        }
        let added = table.events().iter().skip(known);
        self.events
            .extend(added.map(|entry| RecordedEvent::new(&entry.name)));
        self.nameless.set_events(table);
    }

    /// Takes a record in the order of the file. Returns the round that ends with it, if one does: what was collected is
    /// to be looked at then, before [`CountCollector::begin_round`].
    pub fn take(&mut self, record: &RawRecord<'_>) -> Option<StatRound> {
        match self.decode(record) {
            Ok(round) => round,
            Err(_) => {
                self.lost.undecodable += 1;
                None
            }
        }
    }

    fn decode(&mut self, record: &RawRecord<'_>) -> Result<Option<StatRound>, WireError> {
        let cursor = &mut Cursor::new(record.body, self.endian);
        match record.header.kind {
            RecordType::STAT_CONFIG => self.settings = Some(settings(&StatConfig::decode(cursor)?)),
            RecordType::THREAD_MAP => {
                let entries = ThreadMap::decode(cursor)?.entries;
                self.threads.extend(entries.iter().map(thread));
            }
            RecordType::CPU_MAP => self.cpus = CpuMap::decode(cursor)?,
            RecordType::EVENT_UPDATE => self.update(EventUpdate::decode(cursor)?),
            RecordType::STAT => self.count(&Stat::decode(cursor)?),
            RecordType::STAT_ROUND => {
                let round = StatRound::decode(cursor)?;
                return Ok(self.end_round().then_some(round));
            }
            _ => {}
        }
        Ok(None)
    }

    fn update(&mut self, update: EventUpdate<'_>) {
        let index = match update.id {
            NO_ID => self.nameless.described(rank(&update.update)),
            id => self.table.by_id(id).map(|index| index.0),
        };
        let Some(event) = index.and_then(|index| self.events.get_mut(index)) else {
            return;
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match update.update {
            Update::Unit(unit) => event.unit = text(unit),
            Update::Scale(scale) => event.scale = scale,
            Update::Name(name) => event.name = text(name),
            Update::Cpus(cpus) => event.cpus = cpus,
            Update::Unknown(_) => {}
        }
    }

    fn count(&mut self, stat: &Stat) {
        self.lost.without_round += 1;
        let place = CounterPlace {
            cpu: (stat.cpu != u32::MAX).then_some(Cpu(stat.cpu)),
            thread: stat.thread,
        };
        let index = match stat.id {
            NO_ID => self.nameless.counted(place),
            id => self.table.by_id(id).map(|index| index.0),
        };
        let Some(event) = index.and_then(|index| self.events.get_mut(index)) else {
            self.lost.unknown_ids += 1;
            return;
        };
        event.counters.entry(place).or_default().now = CountReading {
            value: stat.value,
            enabled: stat.enabled,
            running: stat.running,
        };
    }

    /// Ends a round; returns whether there is something in it. Only the first may be without counts.
    fn end_round(&mut self) -> bool {
        let counts = std::mem::take(&mut self.lost.without_round);
        self.rounds += 1;
        if self.rounds == 1 {
            self.expected = self.expected_places();
        }
        counts > 0 || self.rounds == 1
    }

    /// Begins the next round: counts go on from those of this one.
    pub fn begin_round(&mut self) {
        self.nameless.begin_round();
        let counters = self
            .events
            .iter_mut()
            .flat_map(|event| event.counters.values_mut());
        counters.for_each(|counter| counter.before = counter.now);
    }

    /// The events.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// The threads that counters name by their index.
    pub fn threads(&self) -> &[RecordedThread] {
        &self.threads
    }

    /// The settings, once their record was taken.
    pub fn settings(&self) -> Option<CountSettings> {
        self.settings
    }

    /// The rounds so far.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// What could not be taken so far.
    pub fn lost(&self) -> LostCountRecords {
        self.lost
    }

    /// The places of an event's counters: those where it should have been counted, and those where it was.
    pub fn places(&self, event: usize) -> Vec<CounterPlace> {
        let expected = self.expected.get(event).into_iter().flatten().copied();
        let counters = self.events.get(event).map(|event| event.counters.keys());
        let mut places: Vec<CounterPlace> = expected
            .chain(counters.into_iter().flatten().copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn expected_places(&self) -> Vec<Vec<CounterPlace>> {
        let mut left = MOST_PLACES;
        let asked = self.cpus.as_ref().map_or(vec![None], CpuMap::cpus);
        let places = |event: &RecordedEvent| {
            if left == 0 {
                return Vec::new();
            }
            let places: Vec<CounterPlace> = self.expected_of(event, &asked, left);
            left -= places.len();
            places
        };
        self.events.iter().map(places).collect()
    }

    /// At most so many of the places where an event should have been counted: its own CPUs among those that were asked
    /// for, with all threads.
    fn expected_of(
        &self,
        event: &RecordedEvent,
        asked: &[Option<u32>],
        most: usize,
    ) -> Vec<CounterPlace> {
        let own = event.cpus.as_ref().map(CpuMap::cpus);
        let own = own.map(|own| own.into_iter().collect::<BTreeSet<_>>());
        let is_own =
            |cpu: &Option<u32>| cpu.is_none() || own.as_ref().is_none_or(|own| own.contains(cpu));
        let threads = self.threads.len().clamp(1, MOST_PLACES) as u32;
        let cpus = asked.iter().copied().filter(is_own);
        let places = cpus.flat_map(|cpu| {
            (0..threads).map(move |thread| CounterPlace {
                cpu: cpu.map(Cpu),
                thread,
            })
        });
        places.take(most).collect()
    }
}

/// The order in which the records about one event come.
fn rank(update: &Update<'_>) -> u32 {
    match update {
        Update::Unit(_) => 1,
        Update::Scale(_) => 2,
        Update::Cpus(_) => 3,
        Update::Name(_) => 4,
        Update::Unknown(_) => 5,
    }
}

fn settings(record: &StatConfig<'_>) -> CountSettings {
    CountSettings {
        aggregation: record.setting(StatConfig::AGGREGATION),
        cache_level: record.setting(StatConfig::LEVEL),
        interval: record.setting(StatConfig::INTERVAL).unwrap_or(0),
        scales: record
            .setting(StatConfig::SCALE)
            .is_none_or(|scale| scale != 0),
    }
}

fn thread(entry: &ThreadMapEntry) -> RecordedThread {
    let tid = i32::try_from(entry.pid).ok();
    RecordedThread {
        tid: tid.map(Tid),
        comm: String::from_utf8_lossy(&entry.comm).into_owned(),
    }
}

#[cfg(test)]
mod tests;
