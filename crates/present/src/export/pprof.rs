//! pprof's `profile.proto`: every distinct stack once, with the weights of each event, and labels for its thread.
//!
//! Addresses are those of the first mapping of their object: samples of several processes meet there, and the file can
//! be read with the objects at hand.

use std::io::{self, Write};

use oxperf_analysis::places::{PlaceId, Places};
use oxperf_analysis::stacks::{Stack, Stacks};
use oxperf_profile::{FrameId, SampleTotals};

use super::code::{CodeExport, Column};
use super::mappings::Mappings;
use super::protobuf;
use super::tables::{Functions, Strings};
use crate::text::unit::WeightUnit;

/// Fields of the message `Profile`.
mod profile {
    pub(super) const SAMPLE_TYPE: u32 = 1;
    pub(super) const SAMPLE: u32 = 2;
    pub(super) const MAPPING: u32 = 3;
    pub(super) const LOCATION: u32 = 4;
    pub(super) const FUNCTION: u32 = 5;
    pub(super) const STRING_TABLE: u32 = 6;
    pub(super) const DURATION_NANOS: u32 = 10;
    pub(super) const PERIOD_TYPE: u32 = 11;
    pub(super) const PERIOD: u32 = 12;
    pub(super) const COMMENT: u32 = 13;
    pub(super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}

/// So many bytes are written at once.
const PIECE: usize = 1 << 16;

pub(super) fn write(code: &CodeExport<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut strings = Strings::default();
    let mut body = Vec::new();
    write_types(code, &mut strings, &mut body);
    let places = Places::of(code.profile);
    let stacks = Stacks::of(code.events);
    let columns = Column::all(code);
    let labels = Labels::new(&mut strings);
    for (stack, weights) in stacks.iter() {
        let locations = places.of_chain(code.profile, stack.chain);
        let mut sample = sample(locations, weights, &columns);
        labels.add(code, stack, &mut strings, &mut sample);
        protobuf::bytes(profile::SAMPLE, &sample, &mut body);
        flush(PIECE, &mut body, out)?;
    }
    let mut mappings = Mappings::main_first(code);
    let mut functions = Functions::default();
    for (id, frames) in places.iter() {
        let location = location(code, (id, frames), &mut mappings, &mut functions);
        protobuf::bytes(profile::LOCATION, &location, &mut body);
        flush(PIECE, &mut body, out)?;
    }
    write_functions(&functions, &mut strings, &mut body);
    write_mappings(code, &mappings, &mut strings, &mut body);
    let command = format!("command: {}", code.title);
    for note in std::iter::once(&command).chain(code.lost) {
        protobuf::number(profile::COMMENT, strings.id(note), &mut body);
    }
    for text in strings.texts() {
        protobuf::bytes(profile::STRING_TABLE, text.as_bytes(), &mut body);
        flush(PIECE, &mut body, out)?;
    }
    flush(0, &mut body, out)
}

/// Writes the bytes where they are more than a limit.
fn flush(limit: usize, body: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    if body.len() > limit {
        out.write_all(body)?;
        body.clear();
    }
    Ok(())
}

/// A message `ValueType`.
fn value_type(kind: &str, unit: &str, strings: &mut Strings) -> Vec<u8> {
    let mut message = Vec::new();
    protobuf::number(1, strings.id(kind), &mut message);
    protobuf::number(2, strings.id(unit), &mut message);
    message
}

/// The name and unit of a column; the number of samples of an only event is simply `samples`.
fn type_of(column: &Column<'_>, only: bool) -> (String, &'static str) {
    if !column.is_period {
        let name = if only {
            "samples".to_owned()
        } else {
            format!("{}_samples", column.name)
        };
        return (name, "count");
    }
    match column.unit() {
        WeightUnit::Nanoseconds if only => ("cpu".to_owned(), "nanoseconds"),
        WeightUnit::Nanoseconds => (column.name.to_owned(), "nanoseconds"),
        WeightUnit::Count(event) => (event.to_owned(), "count"),
    }
}

fn write_types(code: &CodeExport<'_>, strings: &mut Strings, out: &mut Vec<u8>) {
    let only = code.events.len() == 1;
    let mut first = None;
    for column in Column::all(code) {
        let (name, unit) = type_of(&column, only);
        let message = value_type(&name, unit, strings);
        protobuf::bytes(profile::SAMPLE_TYPE, &message, out);
        if column.is_period {
            first.get_or_insert((name, message));
        }
    }
    let Some((event, (name, message))) = code.first_event().zip(first) else {
        return;
    };
    protobuf::bytes(profile::PERIOD_TYPE, &message, out);
    let mean = event.period_total.checked_div(event.sample_count);
    protobuf::number(profile::PERIOD, mean.unwrap_or(0), out);
    protobuf::number(profile::DEFAULT_SAMPLE_TYPE, strings.id(&name), out);
    let moments = code.events.iter().flat_map(|event| &event.moments);
    let times = moments.filter_map(|moment| moment.time);
    if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
        protobuf::number(profile::DURATION_NANOS, last - first, out);
    }
}

/// A message `Sample`, without labels. Locations have the numbers of places, plus one.
fn sample(
    places: impl Iterator<Item = PlaceId>,
    weights: &[SampleTotals],
    columns: &[Column<'_>],
) -> Vec<u8> {
    let mut sample = Vec::new();
    protobuf::packed(1, places.map(|place| u64::from(place.0) + 1), &mut sample);
    let values = columns.iter().map(|column| column.value(weights));
    protobuf::packed(2, values, &mut sample);
    sample
}

/// The keys of labels.
struct Labels {
    thread: u64,
    pid: u64,
    tid: u64,
}

impl Labels {
    fn new(strings: &mut Strings) -> Labels {
        Labels {
            thread: strings.id("thread"),
            pid: strings.id("pid"),
            tid: strings.id("tid"),
        }
    }

    /// Adds the thread's name and its numbers.
    fn add(&self, code: &CodeExport<'_>, stack: Stack, strings: &mut Strings, out: &mut Vec<u8>) {
        const TEXT: u32 = 2;
        const NUMBER: u32 = 3;
        let mut label = |key: u64, (field, value): (u32, u64)| {
            let mut label = Vec::new();
            protobuf::number(1, key, &mut label);
            protobuf::number(field, value, &mut label);
            protobuf::bytes(3, &label, out);
        };
        if let Some(name) = code.profile.comms.get(stack.comm.index()) {
            label(self.thread, (TEXT, strings.id(name)));
        }
        if let Some(thread) = code.profile.threads.get(stack.thread.index()) {
            // A negative number takes all 64 bits, as the format has it.
            label(self.pid, (NUMBER, i64::from(thread.pid.0) as u64));
            label(self.tid, (NUMBER, i64::from(thread.tid.0) as u64));
        }
    }
}

/// A message `Location`: the functions of a place, innermost first.
fn location<'a>(
    code: &CodeExport<'a>,
    (id, frames): (PlaceId, &[FrameId]),
    mappings: &mut Mappings<'a>,
    functions: &mut Functions<'a>,
) -> Vec<u8> {
    let mut location = Vec::new();
    protobuf::number(1, u64::from(id.0) + 1, &mut location);
    if let Some((mapping, address)) = frames.last().and_then(|&frame| mappings.find(code, frame)) {
        if let Some(mapping) = mapping {
            protobuf::number(2, mapping, &mut location);
        }
        protobuf::number(3, address, &mut location);
    }
    for frame in frames.iter().filter_map(|&frame| code.frame(frame)) {
        let Some(name) = code.function(frame) else {
            continue;
        };
        let function = functions.id(name, code.file(frame).unwrap_or(""));
        let mut line = Vec::new();
        protobuf::number(1, function, &mut line);
        if let Some(number) = frame.source.and_then(|source| source.number) {
            protobuf::number(2, u64::from(number.get()), &mut line);
        }
        protobuf::bytes(4, &line, &mut location);
    }
    location
}

fn write_functions(functions: &Functions<'_>, strings: &mut Strings, out: &mut Vec<u8>) {
    for (id, (name, file)) in (1..).zip(functions.list()) {
        let (name, file) = (strings.id(name), strings.id(file));
        let mut function = Vec::new();
        protobuf::number(1, id, &mut function);
        protobuf::number(2, name, &mut function);
        protobuf::number(3, name, &mut function);
        protobuf::number(4, file, &mut function);
        protobuf::bytes(profile::FUNCTION, &function, out);
    }
}

fn write_mappings(
    code: &CodeExport<'_>,
    mappings: &Mappings<'_>,
    strings: &mut Strings,
    out: &mut Vec<u8>,
) {
    for (id, mapping) in (1..).zip(mappings.list()) {
        let build_id = code.build_id(mapping.dso);
        let build_id = build_id.map_or_else(String::new, |id| id.to_string());
        let mut message = Vec::new();
        protobuf::number(1, id, &mut message);
        if let Some(range) = code.mapping(mapping) {
            protobuf::number(2, range.start, &mut message);
            protobuf::number(3, range.end, &mut message);
            protobuf::number(4, range.file_offset, &mut message);
        }
        protobuf::number(5, strings.id(mapping.path), &mut message);
        protobuf::number(6, strings.id(&build_id), &mut message);
        let flags = [
            mapping.has_functions,
            mapping.has_files,
            mapping.has_lines,
            mapping.has_lines && code.inlines,
        ];
        for (field, flag) in (7..).zip(flags) {
            protobuf::number(field, u64::from(flag), &mut message);
        }
        protobuf::bytes(profile::MAPPING, &message, out);
    }
}
