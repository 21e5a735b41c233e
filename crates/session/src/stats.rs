//! How many records of each kind a recording holds: a bare walk, without order, machine or text.

use std::num::NonZero;

use oxperf_abi::{Misc, RecordType};
use oxperf_data::{
    Damage, DamageList, DataError, FeatureId, Framed, RawRecord, Reader, RecordSource,
};
use oxperf_wire::kernel::LostSamples;
use oxperf_wire::{Cursor, Endian};

use crate::events::UnknownId;
use crate::group_read::{GroupReads, counting_thread, reads_counters};
use crate::{EventIndex, EventTable};

/// Kinds with a counter of their own: the low numbers, then simpleperf's.
const KINDS: usize = LOW_KINDS + SIMPLEPERF_KINDS;
const LOW_KINDS: usize = 128;
const SIMPLEPERF_KINDS: usize = 10;

/// The counter of a kind.
#[inline]
fn counter_of(kind: RecordType) -> Option<usize> {
    let number = kind.0 as usize;
    if number < LOW_KINDS {
        return Some(number);
    }
    let above = number.checked_sub(RecordType::SIMPLEPERF_KERNEL_SYMBOL.0 as usize)?;
    (above < SIMPLEPERF_KINDS).then_some(LOW_KINDS + above)
}

/// The kinds in the order of their counters.
fn kinds_counted() -> impl Iterator<Item = RecordType> {
    let first = RecordType::SIMPLEPERF_KERNEL_SYMBOL.0;
    (0..LOW_KINDS as u32)
        .chain(first..first + SIMPLEPERF_KINDS as u32)
        .map(RecordType)
}

/// The records of a recording, counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordStats {
    /// The recording has an AUX area, whose samples are not counted.
    pub aux_area: bool,
    /// For each event, in file order.
    pub events: Vec<EventStats>,
    /// Stretches of the file that could not be read.
    pub damage: DamageList,
    by_kind: [u64; KINDS],
    /// Records of kinds without a counter.
    others: u64,
}

/// Counts of one event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EventStats {
    /// The event's name.
    pub name: String,
    /// Samples; where samples hold values of counters, those for which this one had counted something.
    pub samples: u64,
    /// Samples that the kernel could not take.
    pub lost: u64,
    /// Those of them that a BPF filter dropped.
    pub filtered: u64,
}

impl RecordStats {
    /// Counts the records of a recording.
    ///
    /// # Errors
    /// The records cannot be had; see [`Reader::source`].
    pub fn count(reader: &Reader<'_>) -> Result<RecordStats, DataError> {
        let events = EventTable::new(reader);
        let events = &Events {
            reads: events.events().iter().map(reads_counters).collect(),
            endian: reader.endian(),
            table: events,
        };
        let fresh = || Counter {
            stats: RecordStats::new(reader, &events.table),
            groups: GroupReads::default(),
            events,
        };
        let mut counter = fresh();
        counter.stats.damage = reader.damage().clone();
        match reader.source()? {
            // The count of one sample of a group depends on the one before.
            RecordSource::Borrowed(parts) if events.reads.contains(&true) => {
                parts
                    .into_iter()
                    .flatten()
                    .for_each(|item| counter.item(item));
            }
            RecordSource::Borrowed(parts) => {
                let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
                let look = |counter: &mut Counter<'_>, item: Result<RawRecord<'_>, Damage>| {
                    counter.item(item)
                };
                let counted = parts
                    .iter()
                    .flat_map(|records| records.skim(threads, fresh, look));
                counted.for_each(|stretch| counter.stats.add(stretch.stats));
            }
            RecordSource::Buffered(records) => records.for_each(|item| counter.item(item)),
        }
        Ok(counter.stats)
    }

    /// Adds what was counted in a later stretch of the same recording.
    fn add(&mut self, later: RecordStats) {
        for (event, more) in self.events.iter_mut().zip(later.events) {
            event.samples += more.samples;
            event.lost = event.lost.saturating_add(more.lost);
            event.filtered = event.filtered.saturating_add(more.filtered);
        }
        self.by_kind
            .iter_mut()
            .zip(later.by_kind)
            .for_each(|(count, more)| *count += more);
        self.others += later.others;
        self.damage.append(later.damage);
    }

    fn new(reader: &Reader<'_>, events: &EventTable) -> RecordStats {
        let named = |name: &String| EventStats {
            name: name.clone(),
            ..EventStats::default()
        };
        RecordStats {
            aux_area: reader.features().bits().contains(FeatureId::AUXTRACE),
            events: events
                .events()
                .iter()
                .map(|event| named(&event.name))
                .collect(),
            damage: DamageList::default(),
            by_kind: [0; KINDS],
            others: 0,
        }
    }

    /// The known kinds that occur, by number, with how often.
    pub fn kinds(&self) -> impl Iterator<Item = (RecordType, u64)> + '_ {
        self.counted().filter(|(kind, _)| kind.name().is_some())
    }

    /// Records of known kinds.
    pub fn total(&self) -> u64 {
        self.kinds().map(|(_, count)| count).sum()
    }

    /// Records of kinds that are not known here.
    pub fn unknown(&self) -> u64 {
        let numbered = self.counted().filter(|(kind, _)| kind.name().is_none());
        numbered.map(|(_, count)| count).sum::<u64>() + self.others
    }

    fn counted(&self) -> impl Iterator<Item = (RecordType, u64)> + '_ {
        let numbered = kinds_counted().zip(self.by_kind.iter().copied());
        numbered.filter(|(_, count)| *count > 0)
    }
}

/// Whose the records are.
struct Events {
    table: EventTable,
    /// The samples of each event hold the values of counters, or not.
    reads: Vec<bool>,
    endian: Endian,
}

/// A walk at work.
struct Counter<'e> {
    stats: RecordStats,
    groups: GroupReads,
    events: &'e Events,
}

impl Counter<'_> {
    #[inline]
    fn item<B: AsRef<[u8]>>(&mut self, item: Result<Framed<B>, Damage>) {
        match item {
            Ok(record) => self.record(&record.as_raw()),
            Err(damage) => self.stats.damage.add(damage),
        }
    }

    #[inline]
    fn record(&mut self, record: &RawRecord<'_>) {
        let kind = record.header.kind;
        match counter_of(kind) {
            Some(counter) => self.stats.by_kind[counter] += 1,
            None => self.stats.others += 1,
        }
        match kind {
            RecordType::SAMPLE => self.sample(record),
            RecordType::LOST_SAMPLES => self.lost_samples(record),
            _ => {}
        }
    }

    #[inline]
    fn owner(&self, kind: RecordType, body: &[u8]) -> Result<EventIndex, UnknownId> {
        self.events.table.owner(kind, body, self.events.endian)
    }

    /// A sample whose id is not listed is no event's.
    #[inline]
    fn sample(&mut self, record: &RawRecord<'_>) {
        let Ok(event) = self.owner(RecordType::SAMPLE, record.body) else {
            return;
        };
        if self.events.reads[event.0] {
            return self.group(event, record.body);
        }
        self.stats.events[event.0].samples += 1;
    }

    fn group(&mut self, leader: EventIndex, body: &[u8]) {
        let events = &self.events.table;
        let layout = &events.events()[leader.0].layout;
        let Ok(sample) = layout.decode_sample(body, self.events.endian) else {
            return;
        };
        let Some(values) = sample.read else { return };
        let tid = counting_thread(events, leader, sample.tid);
        for (id, _) in self.groups.periods(&values, tid) {
            if let Some(member) = events.by_id(id) {
                self.stats.events[member.0].samples += 1;
            }
        }
    }

    fn lost_samples(&mut self, record: &RawRecord<'_>) {
        let kind = record.header.kind;
        let Ok(event) = self.owner(kind, record.body) else {
            return;
        };
        let Ok(lost) = LostSamples::decode(&mut Cursor::new(record.body, self.events.endian))
        else {
            return;
        };
        let event = &mut self.stats.events[event.0];
        let count = if record.header.misc.has(Misc::LOST_SAMPLES_BPF) {
            &mut event.filtered
        } else {
            &mut event.lost
        };
        *count = count.saturating_add(lost.lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{EventAttr, SampleType};
    use oxperf_data::{FeatureSet, Writer, WriterEvent};

    /// A recording with these records: kind, header flags and body.
    fn counted(records: &[(RecordType, u16, &[u64])]) -> RecordStats {
        let attr = EventAttr {
            sample_type: SampleType::IP,
            ..EventAttr::default()
        };
        let event = WriterEvent {
            attr,
            name: "cycles".into(),
            ids: vec![],
        };
        let mut writer = Writer::begin(Vec::new(), &[event]).unwrap();
        for (kind, misc, words) in records {
            let size = (8 + 8 * words.len()) as u64;
            let head = u64::from(kind.0) | u64::from(*misc) << 32 | size << 48;
            let words = std::iter::once(head).chain(words.iter().copied());
            writer
                .append(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
                .unwrap();
        }
        let file = writer.finish(&FeatureSet::new()).unwrap();
        RecordStats::count(&Reader::open(&file).unwrap()).unwrap()
    }

    #[test]
    fn every_kind_is_counted_and_unknown_ones_apart() {
        let stats = counted(&[
            (RecordType::SAMPLE, 2, &[0x1000]),
            (RecordType::SAMPLE, 2, &[0x1000]),
            (RecordType::FINISHED_ROUND, 0, &[]),
            (RecordType(99), 0, &[]),
        ]);
        assert_eq!(
            stats.kinds().collect::<Vec<_>>(),
            [(RecordType::SAMPLE, 2), (RecordType::FINISHED_ROUND, 1)]
        );
        assert_eq!(
            (stats.total(), stats.unknown(), stats.events[0].samples),
            (3, 1, 2)
        );
    }

    #[test]
    fn lost_samples_are_told_apart_by_who_dropped_them() {
        let filtered = Misc::LOST_SAMPLES_BPF;
        let stats = counted(&[
            (RecordType::LOST_SAMPLES, 0, &[7]),
            (RecordType::LOST_SAMPLES, filtered, &[9]),
        ]);
        assert_eq!((stats.events[0].lost, stats.events[0].filtered), (7, 9));
    }
}
