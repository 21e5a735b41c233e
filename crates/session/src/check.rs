//! The check of a recording (form, whole and broken parts, losses): a walk that decodes everything and keeps nothing.

mod recorder;

use oxperf_abi::{EventAttr, Misc, PerfTime, RecordType};
use oxperf_data::features::{BpfBtf, BpfProgInfo, Compression};
use oxperf_data::{
    Container, Damage, DamageList, DataError, FeatureId, Features, Framed, RawRecord, Reader,
    RecordSource,
};
use oxperf_wire::kernel::{Aux, Lost, LostSamples};
use oxperf_wire::{Cursor, Encoder, Endian, RecordBody, SampleLayout, TranscodeError};

pub use recorder::{RecorderInfo, Tool};

use crate::EventTable;

/// A recording's form, contents, losses and damage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordingCheck {
    /// Its form.
    pub form: RecordingForm,
    /// The program and the machine that made it.
    pub recorder: RecorderInfo,
    /// Its events in the order of the file.
    pub events: Vec<CheckedEvent>,
    /// Counts of its records.
    pub records: RecordCounts,
    /// Time of the first and of the last sample.
    pub span: Option<(PerfTime, PerfTime)>,
    /// Losses of the recorder and the kernel.
    pub lost: LostCounts,
    /// Features that can be read, lowest first.
    pub features: Vec<FeatureId>,
    /// Features that cannot, with the reason.
    pub broken_features: Vec<(FeatureId, DataError)>,
    /// Stretches of the recording that cannot be read.
    pub damage: DamageList,
}

/// The form of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordingForm {
    /// As a file, a directory or a stream.
    pub container: Container,
    /// Further files of a directory.
    pub further_files: usize,
    /// Version of the format.
    pub version: u32,
    /// Byte order of the recorder.
    pub endian: Endian,
    /// Its compression, if it has one.
    pub compression: Option<Compression>,
}

/// An event as far as a check looks at it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedEvent {
    /// Its name.
    pub name: String,
    /// Number of counters that it was opened as.
    pub ids: usize,
    /// Size of its attribute in the recording.
    pub attr_size: u32,
    /// The attribute has settings that this program does not know; perf refuses such a recording.
    pub newer: bool,
}

/// Counts of the records of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordCounts {
    /// All of them; compressed ones are counted by what they hold.
    pub total: u64,
    /// Samples among them.
    pub samples: u64,
    /// Records of kinds that are not known here.
    pub unknown: u64,
    /// Records that do not hold what their kind needs.
    pub undecodable: u64,
    /// Samples of an event that the recording does not list.
    pub unlisted: u64,
}

/// Counts of losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LostCounts {
    /// Records that rings could not take.
    pub records: u64,
    /// Number of times that rings were full.
    pub chunks: u64,
    /// Samples that the kernel could not take.
    pub samples: u64,
    /// Samples that a BPF filter dropped.
    pub filtered: u64,
    /// Number of times that the kernel slowed an event down.
    pub throttled: u64,
    /// Stretches of AUX data that were cut because their area was full.
    pub aux_truncated: u64,
}

impl RecordingCheck {
    /// Walks a recording.
    ///
    /// # Errors
    /// The records cannot be had; see [`Reader::source`].
    pub fn run(reader: &Reader<'_>) -> Result<RecordingCheck, DataError> {
        let source = reader.source()?;
        let events = EventTable::new(reader);
        let mut walk = Walk {
            endian: reader.endian(),
            check: RecordingCheck::before_records(reader, &events),
            events,
            bare: SampleLayout::new(&EventAttr::default()),
            scratch: Encoder::new(Endian::NATIVE),
        };
        match source {
            RecordSource::Borrowed(parts) => {
                parts.into_iter().for_each(|records| walk.take_all(records))
            }
            RecordSource::Buffered(records) => walk.take_all(records),
        }
        Ok(walk.check)
    }

    /// `true` if everything could be read.
    pub fn is_whole(&self) -> bool {
        let RecordCounts {
            undecodable,
            unlisted,
            ..
        } = self.records;
        self.damage.is_empty()
            && self.broken_features.is_empty()
            && undecodable == 0
            && unlisted == 0
    }

    fn before_records(reader: &Reader<'_>, events: &EventTable) -> RecordingCheck {
        let entries = reader.events().iter().zip(events.events());
        let (features, broken_features) = check_features(reader);
        RecordingCheck {
            form: RecordingForm {
                container: reader.container(),
                further_files: reader.part_count(),
                version: if reader.header().first_version { 1 } else { 2 },
                endian: reader.endian(),
                compression: reader.compression(),
            },
            recorder: RecorderInfo::of(reader),
            events: entries
                .map(|(entry, event)| CheckedEvent {
                    name: event.name.clone(),
                    ids: entry.ids.len(),
                    attr_size: entry.stored.size,
                    newer: entry.stored.extra.iter().any(|byte| *byte != 0),
                })
                .collect(),
            records: RecordCounts::default(),
            span: None,
            lost: LostCounts::default(),
            features,
            broken_features,
            damage: reader.damage().clone(),
        }
    }
}

/// Decodes each feature; gives those that can be read and those that cannot.
fn check_features(reader: &Reader<'_>) -> (Vec<FeatureId>, Vec<(FeatureId, DataError)>) {
    let (mut whole, mut broken) = (Vec::new(), Vec::new());
    for id in reader.features().bits().iter() {
        match check_feature(reader.features(), id) {
            Ok(()) => whole.push(id),
            Err(error) => broken.push((id, error)),
        }
    }
    (whole, broken)
}

fn check_feature(features: &Features<'_>, id: FeatureId) -> Result<(), DataError> {
    match id {
        FeatureId::BPF_PROG_INFO => features.get::<BpfProgInfo>().map(|_| ()),
        FeatureId::BPF_BTF => features.get::<BpfBtf>().map(|_| ()),
        id => features
            .raw(id)
            .and_then(|_| features.in_order(id, Endian::NATIVE))
            .map(|_| ()),
    }
}

/// A walk over the records.
struct Walk {
    endian: Endian,
    events: EventTable,
    check: RecordingCheck,
    /// The shape of records when there is no event.
    bare: SampleLayout,
    scratch: Encoder,
}

/// AUX: the area was full.
const AUX_TRUNCATED: u64 = 1;

impl Walk {
    fn take_all<B: AsRef<[u8]>>(
        &mut self,
        records: impl Iterator<Item = Result<Framed<B>, Damage>>,
    ) {
        for record in records {
            match record {
                Ok(record) => self.take(&record.as_raw()),
                Err(damage) => self.check.damage.add(damage),
            }
        }
    }

    fn take(&mut self, record: &RawRecord<'_>) {
        let kind = record.header.kind;
        if matches!(kind, RecordType::COMPRESSED | RecordType::COMPRESSED2) {
            return;
        }
        self.check.records.total += 1;
        if kind.name().is_none() {
            self.check.records.unknown += 1;
            return;
        }
        let owner = self.events.owner(kind, record.body, self.endian);
        let event = owner.ok().map(|index| &self.events.events()[index.0]);
        let layout = *event.map_or(&self.bare, |event| &event.layout);
        if kind == RecordType::SAMPLE {
            self.check.records.samples += 1;
            self.check.records.unlisted += u64::from(event.is_none());
        }
        if event.is_some() && !self.decodes(record, &layout) {
            self.check.records.undecodable += 1;
            return;
        }
        self.note(record, &layout);
    }

    fn decodes(&mut self, record: &RawRecord<'_>, layout: &SampleLayout) -> bool {
        // Streams hold features of any size; they are checked as features.
        if record.header.kind == RecordType::HEADER_FEATURE {
            return true;
        }
        self.scratch.clear();
        let (kind, misc) = (record.header.kind, record.header.misc);
        let body = RecordBody {
            kind,
            misc,
            bytes: record.body,
            endian: self.endian,
            layout,
        };
        !matches!(
            body.transcode(&mut self.scratch, |_| ()),
            Err(TranscodeError::Wire(_))
        )
    }

    /// Takes what a whole record says about time and loss.
    fn note(&mut self, record: &RawRecord<'_>, layout: &SampleLayout) {
        let mut body = Cursor::new(record.body, self.endian);
        let lost = &mut self.check.lost;
        match record.header.kind {
            RecordType::SAMPLE => self.note_time(record, layout),
            RecordType::LOST => {
                lost.chunks += 1;
                let found = Lost::decode(&mut body).map_or(0, |found| found.lost);
                lost.records = lost.records.saturating_add(found);
            }
            RecordType::LOST_SAMPLES => {
                let filtered = record.header.misc.has(Misc::LOST_SAMPLES_BPF);
                let count = if filtered {
                    &mut lost.filtered
                } else {
                    &mut lost.samples
                };
                *count = count
                    .saturating_add(LostSamples::decode(&mut body).map_or(0, |found| found.lost));
            }
            RecordType::THROTTLE => lost.throttled += 1,
            RecordType::AUX => {
                let flags = Aux::decode(&mut body).map_or(0, |aux| aux.flags);
                lost.aux_truncated += u64::from(flags & AUX_TRUNCATED != 0);
            }
            _ => {}
        }
    }

    fn note_time(&mut self, record: &RawRecord<'_>, layout: &SampleLayout) {
        let sample = layout.decode_sample(record.body, self.endian).ok();
        let Some(time) = sample.and_then(|sample| sample.time) else {
            return;
        };
        let (first, last) = self.check.span.unwrap_or((time, time));
        self.check.span = Some((first.min(time), last.max(time)));
    }
}
