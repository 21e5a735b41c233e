//! OpenTelemetry's profiles: the message `ExportProfilesServiceRequest` of OTLP (`v1development`, as of
//! opentelemetry-proto 1.10), for a file or for a receiver.
//!
//! A message stands alone: it has a dictionary of its own, in whose tables the first entry means nothing. A profile holds the
//! samples of one event. Samples with equal stack, thread and CPU are one, with a time and a value for each.

mod answer;
mod attributes;
mod dictionary;
mod fields;
mod message;

use std::io::{self, Write};

use oxperf_abi::Pid;
use oxperf_analysis::places::Places;
use rustc_hash::FxHashMap;

use super::code::CodeExport;
use super::protobuf;
pub use answer::{PartialSuccess, status_message};
pub use attributes::{Attribute, AttributeValue};
use fields::request;
use message::MessageBuilder;

/// Events of a profile, ready to be written as OpenTelemetry's profiles. The events need their
/// [`moments`](oxperf_profile::EventProfile::moments).
#[derive(Clone, Copy, Debug)]
pub struct OtlpExport<'a> {
    /// The samples and the code that they are of.
    pub code: CodeExport<'a>,
    /// What all of them have in common: the machine, the service.
    pub resource: &'a [Attribute],
    /// What the profile of each event has in common with those of the others.
    pub attributes: &'a [Attribute],
    /// The names of the programs that processes run, as far as they are known.
    pub executables: &'a FxHashMap<Pid, String>,
    /// Added to a time of the recording, modulo 2^64, it gives nanoseconds since 1970.
    pub wall_offset: u64,
    /// Nanoseconds since 1970 that stand for samples without a time.
    pub untimed: u64,
}

/// The size up to which samples are put into one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// Bytes; one sample with new functions may go beyond.
    pub bytes: usize,
    /// Samples that differ in stack, thread or CPU.
    pub samples: usize,
}

impl MessageLimits {
    /// One message holds everything.
    pub const NONE: MessageLimits = MessageLimits {
        bytes: usize::MAX,
        samples: usize::MAX,
    };
}

impl<'a> OtlpExport<'a> {
    /// The samples in order of time, in messages of limited size.
    pub fn messages(&self, limits: MessageLimits) -> OtlpMessages<'_, 'a> {
        let events = self.code.events;
        let mut order: Vec<Turn> = Vec::with_capacity(events.iter().map(|e| e.moments.len()).sum());
        for (event, profile) in (0u32..).zip(events) {
            let moments = (0u32..).zip(&profile.moments);
            order.extend(moments.map(|(moment, known)| Turn {
                time: known.time.unwrap_or(0),
                event,
                moment,
            }));
        }
        // Those of one event are in this order already: sorting costs little.
        order.sort_by_key(|turn| turn.time);
        OtlpMessages {
            export: self,
            limits,
            places: Places::of(self.code.profile),
            order,
            next: 0,
        }
    }
}

/// A sample among those of all events.
#[derive(Clone, Copy, Debug)]
struct Turn {
    time: u64,
    event: u32,
    moment: u32,
}

/// The messages of an export, made one by one.
#[derive(Debug)]
pub struct OtlpMessages<'e, 'a> {
    export: &'e OtlpExport<'a>,
    limits: MessageLimits,
    places: Places,
    order: Vec<Turn>,
    next: usize,
}

impl Iterator for OtlpMessages<'_, '_> {
    type Item = OtlpMessage;

    fn next(&mut self) -> Option<OtlpMessage> {
        let turns = self
            .order
            .get(self.next..)
            .filter(|turns| !turns.is_empty())?;
        let mut builder = MessageBuilder::new(self.export, &self.places);
        for turn in turns {
            self.next += 1;
            builder.add(turn.event, turn.moment);
            if builder.size() >= self.limits.bytes || builder.samples() >= self.limits.samples {
                break;
            }
        }
        Some(builder.finish())
    }
}

/// A message `ExportProfilesServiceRequest`.
#[derive(Clone, Debug)]
pub struct OtlpMessage {
    resource_profiles: Vec<u8>,
    dictionary: Vec<u8>,
    /// How many samples of the recording it holds.
    pub observations: u64,
}

impl OtlpMessage {
    /// Writes its bytes.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut prefix = Vec::new();
        for (field, bytes) in [
            (request::RESOURCE_PROFILES, &self.resource_profiles),
            (request::DICTIONARY, &self.dictionary),
        ] {
            prefix.clear();
            protobuf::prefix(field, bytes.len(), &mut prefix);
            out.write_all(&prefix)?;
            out.write_all(bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
