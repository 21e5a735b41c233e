//! A message in the making: samples are added, and what is the same in several is put together.

use oxperf_analysis::places::Places;
use oxperf_profile::{CommId, EventProfile, SampleMoment, ThreadId};
use rustc_hash::FxHashMap;

use super::super::protobuf;
use super::attributes::{Attribute, AttributeValue};
use super::dictionary::Dictionary;
use super::fields::{
    profile, resource, resource_profiles, sample, scope, scope_profiles, value_type,
};
use super::{OtlpExport, OtlpMessage};
use crate::text::unit::WeightUnit;

/// About as many bytes as a sample takes without its times and values.
const SAMPLE: usize = 24;
/// As many bytes as a time and a value take, most often.
const OBSERVATION: usize = 14;

/// The samples of a message, and its dictionary.
pub(super) struct MessageBuilder<'e, 'a> {
    export: &'e OtlpExport<'a>,
    dictionary: Dictionary<'e, 'a>,
    origins: Origins,
    profiles: Vec<ProfileBuilder<'a>>,
    samples: usize,
    observations: u64,
}

impl<'e, 'a> MessageBuilder<'e, 'a> {
    pub(super) fn new(export: &'e OtlpExport<'a>, places: &'e Places) -> MessageBuilder<'e, 'a> {
        let events = export.code.events.iter();
        MessageBuilder {
            export,
            dictionary: Dictionary::new(&export.code, places),
            origins: Origins::default(),
            profiles: events.map(|event| ProfileBuilder::new(event)).collect(),
            samples: 0,
            observations: 0,
        }
    }

    /// About as many bytes as it takes so far.
    pub(super) fn size(&self) -> usize {
        self.dictionary.size()
            + self.samples * SAMPLE
            + usize::try_from(self.observations).unwrap_or(usize::MAX) * OBSERVATION
    }

    /// Samples that differ in more than time and value.
    pub(super) const fn samples(&self) -> usize {
        self.samples
    }

    /// Adds a sample of an event.
    pub(super) fn add(&mut self, event: u32, moment: u32) {
        let Some(profile) = self.profiles.get_mut(event as usize) else {
            return;
        };
        let event = profile.event;
        let Some(moment) = event.moments.get(moment as usize) else {
            return;
        };
        let Some(group) = event.groups.get(moment.group as usize) else {
            return;
        };
        let stack = match profile.stack_of.get_mut(moment.group as usize) {
            Some(known) if *known > 0 => *known,
            Some(slot) => {
                *slot = self.dictionary.stack(group.chain);
                *slot
            }
            None => return,
        };
        let origin = Origin {
            thread: group.thread,
            comm: group.comm,
            cpu: moment.cpu,
        };
        let origin = self.origins.id(origin, self.export, &mut self.dictionary);
        self.samples += usize::from(profile.add(stack, origin, moment));
        self.observations += 1;
    }

    pub(super) fn finish(mut self) -> OtlpMessage {
        let mut out = Vec::new();
        protobuf::message(resource_profiles::RESOURCE, &mut out, |message| {
            for attribute in self.export.resource {
                attribute.write(resource::ATTRIBUTES, message);
            }
        });
        protobuf::message(resource_profiles::SCOPE_PROFILES, &mut out, |message| {
            protobuf::message(scope_profiles::SCOPE, message, |message| {
                protobuf::bytes(scope::NAME, b"oxperf", message);
                protobuf::bytes(
                    scope::VERSION,
                    env!("CARGO_PKG_VERSION").as_bytes(),
                    message,
                );
            });
            for mut profile in std::mem::take(&mut self.profiles) {
                if !profile.observations.is_empty() {
                    protobuf::message(scope_profiles::PROFILES, message, |message| {
                        self.write_profile(&mut profile, message);
                    });
                }
            }
        });
        OtlpMessage {
            resource_profiles: out,
            dictionary: self.dictionary.finish(),
            observations: self.observations,
        }
    }

    /// Writes the fields of a message `Profile`.
    fn write_profile(&mut self, builder: &mut ProfileBuilder<'_>, out: &mut Vec<u8>) {
        let event = builder.event;
        let (kind, unit) = type_of(&event.name);
        let (kind, unit) = (self.dictionary.string(kind), self.dictionary.string(unit));
        for field in [profile::SAMPLE_TYPE, profile::PERIOD_TYPE] {
            protobuf::message(field, out, |message| {
                protobuf::number(value_type::TYPE, kind, message);
                protobuf::number(value_type::UNIT, unit, message);
            });
        }
        let mean = event.period_total.checked_div(event.sample_count);
        protobuf::number(profile::PERIOD, mean.unwrap_or(0), out);
        let span = builder.span(self.export);
        protobuf::fixed64(profile::TIME_UNIX_NANO, span.start, out);
        protobuf::number(profile::DURATION_NANO, span.duration, out);
        let id = self.profile_id(builder, &span);
        protobuf::bytes(profile::PROFILE_ID, &id, out);
        let own = [
            Attribute::text("oxperf.event", event.name.as_str()),
            Attribute::number(
                "oxperf.lost_samples",
                i64::try_from(event.lost).unwrap_or(i64::MAX),
            ),
        ];
        let attributes = self.export.attributes.iter().cloned().chain(own);
        let attributes: Vec<u64> = attributes
            .map(|attribute| self.dictionary.attribute(attribute))
            .collect();
        protobuf::packed(profile::ATTRIBUTE_INDICES, attributes, out);
        builder.write_samples(&self.origins, self.export.wall_offset, out);
    }

    /// An id that a profile which is sent twice has twice.
    fn profile_id(&self, builder: &ProfileBuilder<'_>, span: &Span) -> [u8; 16] {
        let mut id = Fnv128::default();
        for attribute in self.export.resource.iter().chain(self.export.attributes) {
            id.add(attribute.key.as_bytes());
            match &attribute.value {
                AttributeValue::Text(text) => id.add(text.as_bytes()),
                AttributeValue::Number(number) => id.add(&number.to_le_bytes()),
                AttributeValue::Texts(texts) => {
                    texts.iter().for_each(|text| id.add(text.as_bytes()))
                }
            }
        }
        id.add(builder.event.name.as_bytes());
        for number in [span.start, span.duration, builder.observations.len() as u64] {
            id.add(&number.to_le_bytes());
        }
        for observation in &builder.observations {
            id.add_number(observation.value);
        }
        id.0.to_be_bytes()
    }
}

/// The type and unit of an event's weights.
fn type_of(event: &str) -> (&str, &'static str) {
    match WeightUnit::of_event(event) {
        WeightUnit::Nanoseconds if event.starts_with("offcpu-time") => ("off_cpu", "nanoseconds"),
        WeightUnit::Nanoseconds => ("cpu", "nanoseconds"),
        WeightUnit::Count(event) => (event, "count"),
    }
}

/// The thread and the CPU that a sample is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Origin {
    thread: ThreadId,
    comm: CommId,
    cpu: Option<u32>,
}

impl Origin {
    fn attributes(self, export: &OtlpExport<'_>) -> Vec<Attribute> {
        let profile = export.code.profile;
        let mut attributes = Vec::new();
        if let Some(thread) = profile.threads.get(self.thread.index()) {
            attributes.push(Attribute::number("process.pid", i64::from(thread.pid.0)));
            if let Some(name) = export.executables.get(&thread.pid) {
                attributes.push(Attribute::text("process.executable.name", name.as_str()));
            }
            attributes.push(Attribute::number("thread.id", i64::from(thread.tid.0)));
        }
        if let Some(name) = profile.comms.get(self.comm.index()) {
            attributes.push(Attribute::text("thread.name", name.as_str()));
        }
        if let Some(cpu) = self.cpu {
            attributes.push(Attribute::number("cpu.logical_number", i64::from(cpu)));
        }
        attributes
    }
}

/// The threads and CPUs of a message, with the numbers of their attributes.
#[derive(Default)]
struct Origins {
    ids: FxHashMap<Origin, u32>,
    attributes: Vec<Vec<u64>>,
}

impl Origins {
    fn id(
        &mut self,
        origin: Origin,
        export: &OtlpExport<'_>,
        dictionary: &mut Dictionary<'_, '_>,
    ) -> u32 {
        *self.ids.entry(origin).or_insert_with(|| {
            let attributes = origin.attributes(export).into_iter();
            let numbers = attributes.map(|attribute| dictionary.attribute(attribute));
            self.attributes.push(numbers.collect());
            self.attributes.len() as u32 - 1
        })
    }
}

/// A time and a value of a sample.
#[derive(Clone, Copy)]
struct Observation {
    sample: u32,
    time: u64,
    value: u64,
}

/// The samples of one event.
struct ProfileBuilder<'a> {
    event: &'a EventProfile,
    /// True if each sample of the event has a time.
    timed: bool,
    /// The number of each group's stack; 0 for one that has none yet.
    stack_of: Vec<u32>,
    /// Stack and origin of each sample.
    samples: Vec<(u32, u32)>,
    ids: FxHashMap<(u32, u32), u32>,
    observations: Vec<Observation>,
}

/// The time that a profile is of, in nanoseconds since 1970.
struct Span {
    start: u64,
    duration: u64,
}

impl<'a> ProfileBuilder<'a> {
    fn new(event: &'a EventProfile) -> ProfileBuilder<'a> {
        ProfileBuilder {
            event,
            timed: event.moments.iter().all(|moment| moment.time.is_some()),
            stack_of: vec![0; event.groups.len()],
            samples: Vec::new(),
            ids: FxHashMap::default(),
            observations: Vec::new(),
        }
    }

    /// Adds a sample; returns whether none had this stack and origin before.
    fn add(&mut self, stack: u32, origin: u32, moment: &SampleMoment) -> bool {
        let known = self.samples.len();
        let sample = *self.ids.entry((stack, origin)).or_insert_with(|| {
            self.samples.push((stack, origin));
            known as u32
        });
        self.observations.push(Observation {
            sample,
            time: moment.time.unwrap_or(0),
            value: moment.period,
        });
        self.samples.len() > known
    }

    /// From the first of the samples until behind the last.
    fn span(&self, export: &OtlpExport<'_>) -> Span {
        if !self.timed {
            return Span {
                start: export.untimed,
                duration: 0,
            };
        }
        let times = self.observations.iter().map(|observation| observation.time);
        let (first, last) = (times.clone().min().unwrap_or(0), times.max().unwrap_or(0));
        Span {
            start: first.wrapping_add(export.wall_offset),
            duration: (last - first).saturating_add(1),
        }
    }

    /// Writes a message `Sample` for each.
    fn write_samples(&mut self, origins: &Origins, wall_offset: u64, out: &mut Vec<u8>) {
        // Within a sample they stay in the order of time.
        self.observations
            .sort_by_key(|observation| observation.sample);
        for observations in self
            .observations
            .chunk_by(|one, next| one.sample == next.sample)
        {
            let first = observations.first().map(|first| first.sample as usize);
            let Some(&(stack, origin)) = first.and_then(|first| self.samples.get(first)) else {
                continue;
            };
            protobuf::message(profile::SAMPLES, out, |message| {
                protobuf::number(sample::STACK_INDEX, u64::from(stack), message);
                if let Some(attributes) = origins.attributes.get(origin as usize) {
                    let attributes = attributes.iter().copied();
                    protobuf::packed(sample::ATTRIBUTE_INDICES, attributes, message);
                }
                if self.timed {
                    let values = observations.iter().map(|known| value_of(known.value));
                    protobuf::packed(sample::VALUES, values, message);
                    let times = observations.iter();
                    let times = times.map(|known| known.time.wrapping_add(wall_offset));
                    protobuf::packed_fixed64(sample::TIMESTAMPS_UNIX_NANO, times, message);
                } else {
                    let values = observations.iter().map(|known| known.value);
                    let sum = values.fold(0, u64::saturating_add);
                    protobuf::packed(sample::VALUES, [value_of(sum)], message);
                }
            });
        }
    }
}

/// A value as the format has it: not above the largest signed number.
fn value_of(value: u64) -> u64 {
    value.min(i64::MAX.cast_unsigned())
}

/// The hash FNV-1a of 128 bits.
struct Fnv128(u128);

impl Default for Fnv128 {
    fn default() -> Fnv128 {
        Fnv128(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv128 {
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.add_number(u64::from(byte));
        }
        // Where a text ends is part of it.
        self.add_number(0x1f);
    }

    /// Takes a number as one step.
    fn add_number(&mut self, number: u64) {
        self.0 = (self.0 ^ u128::from(number)).wrapping_mul(Fnv128::PRIME);
    }
}
