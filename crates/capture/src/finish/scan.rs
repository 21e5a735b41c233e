//! A look over all records: how many samples, between which times, in which binaries.

use std::collections::BTreeMap;
use std::io;

use oxperf_abi::{
    BuildId, CallchainContext, EventAttr, EventId, Misc, PerfTime, Pid, RecordType, SampleType,
};
use oxperf_data::features::SampleTime;
use oxperf_wire::kernel::{Aux, FileIdentity, Lost, LostSamples, Mmap, Mmap2, TaskEvent};
use oxperf_wire::{Cursor, Endian, RecordHeader, SampleLayout};
use rustc_hash::FxHashMap;

use super::hit_dsos::{Dso, Hits, Mappings};
use super::read::{RecordBytes, whole_records};
use crate::losses::TraceCount;

/// The findings in all records.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Samples.
    pub(crate) samples: u64,
    /// Records that found their ring full, as the rings report.
    pub(crate) lost_records: u64,
    /// The same by the event that they were to be of.
    pub(crate) lost_by_id: BTreeMap<EventId, u64>,
    /// Samples that the kernel could not write, as the rings and the recorder report.
    pub(crate) lost_samples: u64,
    /// What the records of hardware traces tell.
    pub(crate) traces: TraceCount,
    /// Times of the first and the last sample; `None` when samples have no time.
    pub(crate) times: Option<SampleTime>,
    /// Every mapped binary.
    pub(crate) dsos: Vec<Dso>,
    /// `true` if samples were looked into for the binaries that were hit.
    pub(crate) knows_hits: bool,
}

/// Counts records as they go by.
#[derive(Default)]
pub(crate) struct Tally {
    layouts: Layouts,
    mappings: Mappings,
    found: Scan,
}

impl Tally {
    /// Nothing yet, of events with these ids.
    pub(crate) fn new<'a>(events: impl Iterator<Item = (&'a EventAttr, &'a [EventId])>) -> Tally {
        Tally {
            layouts: Layouts::new(events),
            mappings: Mappings::default(),
            found: Scan::default(),
        }
    }

    /// Whole records of this machine.
    pub(crate) fn take(&mut self, records: &[u8]) {
        whole_records(records, |header, body| self.take_one(header, body));
    }

    /// Adds what another one counted of the same events.
    pub(crate) fn add(&mut self, other: Tally) {
        self.mappings.add(other.mappings);
        self.found.add(&other.found);
    }

    /// All findings.
    pub(crate) fn finish(self) -> Scan {
        Scan {
            dsos: Hits::new(self.mappings).into_dsos(),
            ..self.found
        }
    }

    /// Takes the records of a file that is not compressed, and returns all findings. With `mark_hits` every address of every
    /// sample is looked up, which takes most of the time, unless `hurry` says that this is too much.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    pub(crate) fn scan(
        mut self,
        records: &(impl RecordBytes + ?Sized),
        mark_hits: bool,
        hurry: &dyn Fn() -> bool,
    ) -> io::Result<Scan> {
        records.for_each(&|| false, |header, body| self.take_one(header, body))?;
        if !mark_hits {
            return Ok(self.finish());
        }
        let Tally {
            layouts,
            mappings,
            mut found,
        } = self;
        let mut hits = Hits::new(mappings);
        found.knows_hits = records.for_each(hurry, |header, body| {
            if header.kind == RecordType::SAMPLE
                && let Some(layout) = layouts.of_sample(body)
            {
                mark(layout, body, &mut hits);
            }
        })?;
        found.dsos = hits.into_dsos();
        Ok(found)
    }

    fn take_one(&mut self, header: RecordHeader, body: &[u8]) {
        if header.kind != RecordType::SAMPLE {
            self.found.note_loss(header.kind, body);
            note_mapping(header, body, &mut self.mappings);
            return;
        }
        self.found.samples += 1;
        if let Some(layout) = self.layouts.of_sample(body) {
            self.found.note_time(layout, body);
        }
    }
}

impl Scan {
    fn note_loss(&mut self, kind: RecordType, body: &[u8]) {
        let mut cursor = Cursor::new(body, Endian::NATIVE);
        match kind {
            RecordType::LOST => {
                let Ok(Lost { id, lost }) = Lost::decode(&mut cursor) else {
                    return;
                };
                self.lost_records = self.lost_records.saturating_add(lost);
                let of_event = self.lost_by_id.entry(id).or_default();
                *of_event = of_event.saturating_add(lost);
            }
            RecordType::AUX => {
                if let Ok(piece) = Aux::decode(&mut cursor) {
                    self.traces.take(piece);
                }
            }
            RecordType::LOST_SAMPLES => {
                let lost = LostSamples::decode(&mut cursor).map_or(0, |record| record.lost);
                self.lost_samples = self.lost_samples.saturating_add(lost);
            }
            _ => {}
        }
    }

    /// Records that were lost. `counted` of the lost samples are what the kernel counted for each event: among them is
    /// every sample that found its ring full, which the rings report, too, unless they stayed full to the end.
    pub(crate) fn lost(&self, counted: u64) -> u64 {
        let others = self.lost_samples.saturating_sub(counted);
        self.lost_records.max(counted).saturating_add(others)
    }

    fn note_time(&mut self, layout: &Layout, body: &[u8]) {
        let time = layout.time_word.and_then(|word| word_at(body, word));
        let time = time.map(PerfTime);
        if let Some(time) = time.filter(|time| *time != PerfTime::OF_SUMS) {
            self.note_times(SampleTime {
                first: time,
                last: time,
            });
        }
    }

    #[inline]
    fn note_times(&mut self, SampleTime { first, last }: SampleTime) {
        let times = self.times.get_or_insert(SampleTime { first, last });
        times.first = times.first.min(first);
        times.last = times.last.max(last);
    }

    /// Adds the counts and times of other records.
    fn add(&mut self, other: &Scan) {
        self.samples += other.samples;
        self.lost_records = self.lost_records.saturating_add(other.lost_records);
        for (&id, &lost) in &other.lost_by_id {
            let of_event = self.lost_by_id.entry(id).or_default();
            *of_event = of_event.saturating_add(lost);
        }
        self.lost_samples = self.lost_samples.saturating_add(other.lost_samples);
        self.traces.add(other.traces);
        if let Some(times) = other.times {
            self.note_times(times);
        }
    }
}

fn note_mapping(header: RecordHeader, body: &[u8], mappings: &mut Mappings) {
    let misc = header.misc;
    let mut cursor = Cursor::new(body, Endian::NATIVE);
    match header.kind {
        RecordType::MMAP2 => {
            if let Ok(map) = Mmap2::decode(misc, &mut cursor)
                && !misc.has(Misc::MMAP_DATA)
            {
                let range = map.start..map.start.saturating_add(map.len);
                mappings.map(map.pid, range, map.filename, build_id_of(&map));
            }
        }
        RecordType::MMAP => {
            if let Ok(map) = Mmap::decode(&mut cursor)
                && !misc.has(Misc::MMAP_DATA)
            {
                let range = map.start..map.start.saturating_add(map.len);
                mappings.map(map.pid, range, map.filename, None);
            }
        }
        RecordType::FORK => {
            if let Ok(task) = TaskEvent::decode(&mut cursor) {
                mappings.fork(task.pid, task.ppid);
            }
        }
        _ => {}
    }
}

fn build_id_of(map: &Mmap2<'_>) -> Option<BuildId> {
    match map.identity {
        FileIdentity::BuildId(id) => id,
        FileIdentity::Inode { .. } => None,
    }
}

fn mark(layout: &Layout, body: &[u8], hits: &mut Hits) {
    let Ok(sample) = layout.layout.decode_sample(body, Endian::NATIVE) else {
        return;
    };
    let pid = sample.pid.unwrap_or(Pid(-1));
    let chain = sample.callchain.into_iter().flat_map(|chain| chain.iter());
    let addresses = chain.filter(|&word| CallchainContext::from_word(word).is_none());
    hits.mark(pid, sample.ip.into_iter().chain(addresses));
}

struct Layout {
    layout: SampleLayout,
    time_word: Option<usize>,
}

/// The layouts of the samples, by event id where they differ.
#[derive(Default)]
struct Layouts {
    first: Option<Layout>,
    by_id: FxHashMap<EventId, Layout>,
}

impl Layouts {
    fn new<'a>(events: impl Iterator<Item = (&'a EventAttr, &'a [EventId])>) -> Layouts {
        let mut layouts = Layouts {
            first: None,
            by_id: FxHashMap::default(),
        };
        for (attr, ids) in events {
            layouts.first.get_or_insert_with(|| Layout::new(attr));
            if attr.sample_type.contains(SampleType::IDENTIFIER) {
                layouts
                    .by_id
                    .extend(ids.iter().map(|&id| (id, Layout::new(attr))));
            }
        }
        layouts
    }

    /// With an identifier, which stands first, by that; without, all samples are alike.
    #[inline]
    fn of_sample(&self, body: &[u8]) -> Option<&Layout> {
        if self.by_id.is_empty() {
            return self.first.as_ref();
        }
        self.by_id.get(&EventId(word_at(body, 0)?))
    }
}

impl Layout {
    fn new(attr: &EventAttr) -> Layout {
        let layout = SampleLayout::new(attr);
        Layout {
            layout,
            time_word: layout.sample_time_word(),
        }
    }
}

/// A word of a body written by this machine.
#[inline]
fn word_at(body: &[u8], index: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*body.get(index * 8..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_wire::Encoder;

    fn scan(fields: SampleType, records: &[(RecordType, &[u64])], mark_hits: bool) -> Scan {
        let attr = EventAttr {
            sample_type: fields,
            ..EventAttr::default()
        };
        let mut encoder = Encoder::new(Endian::NATIVE);
        for (kind, words) in records {
            encoder.record(*kind, Misc(2), |body| {
                words.iter().for_each(|&word| body.u64(word))
            });
        }
        let tally = Tally::new([(&attr, &[EventId(5)][..])].into_iter());
        tally
            .scan(&encoder.as_bytes(), mark_hits, &|| false)
            .unwrap()
    }

    fn fields() -> SampleType {
        SampleType::IP | SampleType::TID | SampleType::TIME
    }

    #[test]
    fn samples_times_losses_and_hits() {
        let fields = fields() | SampleType::CALLCHAIN;
        let pid = u64::from_ne_bytes([7, 0, 0, 0, 7, 0, 0, 0]);
        let name = u64::from_ne_bytes(*b"/bin/x\0\0");
        let records: [(RecordType, &[u64]); 4] = [
            (
                RecordType::SAMPLE,
                &[0x1000, pid, 50, 2, u64::MAX - 511, 0x5000],
            ),
            (RecordType::MMAP, &[pid, 0x5000, 0x1000, 0, name]),
            (RecordType::SAMPLE, &[0x1000, pid, 20, 0]),
            (RecordType::LOST, &[5, 3]),
        ];
        let found = scan(fields, &records, true);
        assert_eq!((found.samples, found.lost(0)), (2, 3));
        assert_eq!(
            found.times,
            Some(SampleTime {
                first: PerfTime(20),
                last: PerfTime(50)
            })
        );
        assert!(found.dsos[0].hit && found.dsos[0].name == b"/bin/x");
        assert!(!scan(fields, &records, false).dsos[0].hit);
    }

    #[test]
    fn a_loss_is_counted_once() {
        let lost = |records: &[(RecordType, &[u64])], counted| {
            scan(fields(), records, false).lost(counted)
        };
        // The rings reported 7 lost records, of which the kernel counted 5 as samples; 2 more were lost by the hardware.
        let reported: [(RecordType, &[u64]); 3] = [
            (RecordType::LOST, &[5, 7]),
            (RecordType::LOST_SAMPLES, &[2]),
            (RecordType::LOST_SAMPLES, &[5]),
        ];
        assert_eq!(lost(&reported, 5), 9);
        // A ring that stayed full could not report.
        assert_eq!(lost(&reported[2..], 5), 5);
        assert_eq!(
            lost(
                &[
                    (RecordType::LOST, &[5, u64::MAX]),
                    (RecordType::LOST_SAMPLES, &[9])
                ],
                0
            ),
            u64::MAX
        );
    }

    #[test]
    fn a_cut_sample_is_counted_and_nothing_more() {
        let found = scan(
            SampleType::IP | SampleType::TIME,
            &[(RecordType::SAMPLE, &[0x1000])],
            true,
        );
        assert_eq!((found.samples, found.times), (1, None));
    }
}
