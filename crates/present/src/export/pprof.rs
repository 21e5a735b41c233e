//! pprof's `profile.proto`: every distinct stack once, with its number of samples and its weight, and the thread's name
//! as a label.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::{Exported, protobuf};
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

pub(super) fn write(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut strings = Strings::default();
    let mut body = Vec::new();
    write_types(exported, &mut strings, &mut body);
    write_samples(exported, &mut strings, &mut body);
    out.write_all(&body)?;
    body.clear();
    write_places(exported, &mut strings, &mut body);
    for note in exported.lost {
        protobuf::number(profile::COMMENT, strings.id(note), &mut body);
    }
    for text in &strings.texts {
        protobuf::bytes(profile::STRING_TABLE, text.as_bytes(), &mut body);
    }
    out.write_all(&body)
}

/// Texts by number; the first is empty.
struct Strings {
    texts: Vec<String>,
    ids: FxHashMap<String, u64>,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings {
            texts: vec![String::new()],
            ids: FxHashMap::from_iter([(String::new(), 0)]),
        }
    }
}

impl Strings {
    fn id(&mut self, text: &str) -> u64 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// A message `ValueType`.
    fn value_type(&mut self, kind: &str, unit: &str) -> Vec<u8> {
        let mut message = Vec::new();
        protobuf::number(1, self.id(kind), &mut message);
        protobuf::number(2, self.id(unit), &mut message);
        message
    }
}

fn write_types(exported: &Exported<'_>, strings: &mut Strings, out: &mut Vec<u8>) {
    let (event, unit) = match exported.unit() {
        WeightUnit::Nanoseconds => ("cpu", "nanoseconds"),
        WeightUnit::Count(event) => (event, "count"),
    };
    protobuf::bytes(
        profile::SAMPLE_TYPE,
        &strings.value_type("samples", "count"),
        out,
    );
    let weight = strings.value_type(event, unit);
    protobuf::bytes(profile::SAMPLE_TYPE, &weight, out);
    protobuf::bytes(profile::PERIOD_TYPE, &weight, out);
    let mean = exported
        .event
        .period_total
        .checked_div(exported.event.sample_count)
        .unwrap_or(0);
    protobuf::number(profile::PERIOD, mean, out);
    protobuf::number(profile::DEFAULT_SAMPLE_TYPE, strings.id(event), out);
    let times = exported
        .event
        .moments
        .iter()
        .filter_map(|moment| moment.time);
    if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
        protobuf::number(profile::DURATION_NANOS, last - first, out);
    }
}

/// Each node with samples of its own; locations have the numbers of the tree's frames, plus one.
fn write_samples(exported: &Exported<'_>, strings: &mut Strings, out: &mut Vec<u8>) {
    let thread_key = strings.id("thread");
    for (index, node) in (0u32..).zip(&exported.tree.nodes) {
        if node.own.samples == 0 {
            continue;
        }
        let mut sample = Vec::new();
        protobuf::packed(
            1,
            exported.functions(index).map(|frame| u64::from(frame) + 1),
            &mut sample,
        );
        protobuf::packed(2, [node.own.samples, node.own.value], &mut sample);
        let root = exported
            .tree
            .outwards(index)
            .last()
            .and_then(|root| exported.tree.frame_of(root));
        if let Some(thread) = root {
            let mut label = Vec::new();
            protobuf::number(1, thread_key, &mut label);
            protobuf::number(2, strings.id(exported.tree.name_of(thread)), &mut label);
            protobuf::bytes(3, &label, &mut sample);
        }
        protobuf::bytes(profile::SAMPLE, &sample, out);
    }
}

/// Objects, locations and functions. A location is a function here: stacks are merged by function already.
fn write_places(exported: &Exported<'_>, strings: &mut Strings, out: &mut Vec<u8>) {
    for (id, dso) in (1u64..).zip(&exported.tree.dsos) {
        let mut mapping = Vec::new();
        protobuf::number(1, id, &mut mapping);
        protobuf::number(5, strings.id(&dso.path), &mut mapping);
        protobuf::number(7, 1, &mut mapping);
        protobuf::bytes(profile::MAPPING, &mapping, out);
    }
    for (index, frame) in (0u32..).zip(&exported.tree.frames) {
        if exported.is_thread(index) {
            continue;
        }
        let id = u64::from(index) + 1;
        let (mut location, mut line, mut function) = (Vec::new(), Vec::new(), Vec::new());
        protobuf::number(1, id, &mut location);
        protobuf::number(
            2,
            frame.dso.map_or(0, |dso| u64::from(dso) + 1),
            &mut location,
        );
        protobuf::number(1, id, &mut line);
        protobuf::bytes(4, &line, &mut location);
        protobuf::bytes(profile::LOCATION, &location, out);
        let name = strings.id(&exported.label(index));
        protobuf::number(1, id, &mut function);
        protobuf::number(2, name, &mut function);
        protobuf::number(3, name, &mut function);
        protobuf::bytes(profile::FUNCTION, &function, out);
    }
}
