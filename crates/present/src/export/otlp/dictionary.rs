//! The dictionary of a message: what its samples refer to by number. Nothing stands in it that none refers to.

use std::hash::Hasher;

use hashbrown::HashTable;
use oxperf_analysis::places::{PlaceId, Places};
use oxperf_profile::{FrameId, Level, NodeId};
use rustc_hash::FxHasher;

use super::super::code::CodeExport;
use super::super::mappings::Mappings;
use super::super::protobuf;
use super::super::tables::{Functions, Strings};
use super::attributes::{Attribute, AttributeTable};
use super::fields::{dictionary, function, line, location, mapping, stack};

/// The tables, filled as samples are added.
pub(super) struct Dictionary<'e, 'a> {
    code: &'e CodeExport<'a>,
    places: &'e Places,
    strings: Strings,
    attributes: AttributeTable,
    mappings: Mappings<'a>,
    functions: Functions<'a>,
    function_fields: Vec<u8>,
    /// The number of each place's location; 0 for one that has none yet.
    location_of: Vec<u32>,
    location_count: u32,
    location_fields: Vec<u8>,
    stacks: StackTable,
}

impl<'e, 'a> Dictionary<'e, 'a> {
    pub(super) fn new(code: &'e CodeExport<'a>, places: &'e Places) -> Dictionary<'e, 'a> {
        Dictionary {
            code,
            places,
            strings: Strings::default(),
            attributes: AttributeTable::default(),
            mappings: Mappings::default(),
            functions: Functions::default(),
            function_fields: Vec::new(),
            location_of: vec![0; places.len()],
            location_count: 0,
            location_fields: Vec::new(),
            stacks: StackTable::default(),
        }
    }

    /// About as many bytes as the tables take.
    pub(super) fn size(&self) -> usize {
        /// The fields of a mapping besides its path.
        const MAPPING: usize = 48;
        self.strings.size()
            + self.attributes.fields.len()
            + self.function_fields.len()
            + self.location_fields.len()
            + self.stacks.fields.len()
            + self.mappings.list().len() * MAPPING
    }

    pub(super) fn string(&mut self, text: &str) -> u64 {
        self.strings.id(text)
    }

    pub(super) fn attribute(&mut self, attribute: Attribute) -> u64 {
        self.attributes.id(attribute, &mut self.strings)
    }

    /// The number of a chain's stack.
    pub(super) fn stack(&mut self, chain: NodeId) -> u32 {
        let mut indices = std::mem::take(&mut self.stacks.next);
        indices.clear();
        let places = self.places;
        protobuf::packed(
            stack::LOCATION_INDICES,
            places
                .of_chain(self.code.profile, chain)
                .map(|place| u64::from(self.location(place))),
            &mut indices,
        );
        self.stacks.next = indices;
        self.stacks.number_of_next()
    }

    fn location(&mut self, place: PlaceId) -> u32 {
        if let Some(&known @ 1..) = self.location_of.get(place.index()) {
            return known;
        }
        self.location_count += 1;
        if let Some(slot) = self.location_of.get_mut(place.index()) {
            *slot = self.location_count;
        }
        self.write_location(self.places.frames(place));
        self.location_count
    }

    /// Writes a message `Location`: the functions of a place, innermost first.
    fn write_location(&mut self, frames: &[FrameId]) {
        let code = self.code;
        let mut fields = std::mem::take(&mut self.location_fields);
        protobuf::message(dictionary::LOCATION_TABLE, &mut fields, |message| {
            let last = frames.last().copied();
            if let Some((mapping, address)) = last.and_then(|last| self.mappings.find(code, last)) {
                protobuf::number(location::MAPPING_INDEX, mapping.unwrap_or(0), message);
                protobuf::number(location::ADDRESS, address, message);
            }
            for frame in frames.iter().filter_map(|&frame| code.frame(frame)) {
                let Some(name) = code.function(frame) else {
                    continue;
                };
                let id = self.function(name, code.file(frame).unwrap_or(""));
                protobuf::message(location::LINES, message, |message| {
                    protobuf::number(line::FUNCTION_INDEX, id, message);
                    if let Some(number) = frame.source.and_then(|source| source.number) {
                        protobuf::number(line::LINE, u64::from(number.get()), message);
                    }
                });
            }
            if let Some(last) = last.and_then(|last| code.frame(last)) {
                let kind = Attribute::text("profile.frame.type", frame_type(last.level));
                let kind = self.attribute(kind);
                protobuf::packed(location::ATTRIBUTE_INDICES, [kind], message);
            }
        });
        self.location_fields = fields;
    }

    fn function(&mut self, name: &'a str, file: &'a str) -> u64 {
        let known = self.functions.list().len();
        let id = self.functions.id(name, file);
        if self.functions.list().len() > known {
            let (name, file) = (self.strings.id(name), self.strings.id(file));
            protobuf::message(
                dictionary::FUNCTION_TABLE,
                &mut self.function_fields,
                |message| {
                    protobuf::number(function::NAME, name, message);
                    if file > 0 {
                        protobuf::number(function::FILENAME, file, message);
                    }
                },
            );
        }
        id
    }

    /// The message `ProfilesDictionary`.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let mappings = self.mapping_fields();
        let tables = [
            (dictionary::MAPPING_TABLE, mappings),
            (dictionary::LOCATION_TABLE, self.location_fields),
            (dictionary::FUNCTION_TABLE, self.function_fields),
            (dictionary::LINK_TABLE, Vec::new()),
            (dictionary::ATTRIBUTE_TABLE, self.attributes.fields),
            (dictionary::STACK_TABLE, self.stacks.fields),
        ];
        let size = tables
            .iter()
            .map(|(_, fields)| fields.len() + 2)
            .sum::<usize>();
        let mut out = Vec::with_capacity(size + self.strings.size());
        for (field, fields) in tables {
            // The first entry of a table means that there is none.
            protobuf::bytes(field, &[], &mut out);
            out.extend_from_slice(&fields);
        }
        for text in self.strings.texts() {
            protobuf::bytes(dictionary::STRING_TABLE, text.as_bytes(), &mut out);
        }
        out
    }

    fn mapping_fields(&mut self) -> Vec<u8> {
        let mut fields = Vec::new();
        for known in std::mem::take(&mut self.mappings).list() {
            let path = self.string(known.path);
            let build_id = self.code.build_id(known.dso).map(|id| {
                let id = Attribute::text("process.executable.build_id.gnu", id.to_string());
                self.attribute(id)
            });
            protobuf::message(dictionary::MAPPING_TABLE, &mut fields, |message| {
                if let Some(range) = self.code.mapping(known) {
                    protobuf::number(mapping::MEMORY_START, range.start, message);
                    protobuf::number(mapping::MEMORY_LIMIT, range.end, message);
                    protobuf::number(mapping::FILE_OFFSET, range.file_offset, message);
                }
                protobuf::number(mapping::FILENAME, path, message);
                if let Some(build_id) = build_id {
                    protobuf::packed(mapping::ATTRIBUTE_INDICES, [build_id], message);
                }
            });
        }
        fields
    }
}

/// The value of `profile.frame.type`.
fn frame_type(level: Level) -> &'static str {
    match level {
        Level::Kernel | Level::GuestKernel | Level::Hypervisor => "kernel",
        Level::User | Level::GuestUser => "native",
    }
}

/// Stacks by their numbers, from 1. They are told apart by their bytes: chains of several processes meet in one.
#[derive(Default)]
struct StackTable {
    /// The fields of the dictionary, without the first entry.
    fields: Vec<u8>,
    /// The place of each stack's message in them.
    spans: Vec<(usize, usize)>,
    ids: HashTable<u32>,
    /// The message of the stack that is looked for.
    next: Vec<u8>,
}

impl StackTable {
    /// The number of the stack whose message is next.
    fn number_of_next(&mut self) -> u32 {
        let (fields, spans, next) = (&mut self.fields, &mut self.spans, &self.next);
        let message = |fields: &[u8], spans: &[(usize, usize)], id: u32| {
            let (start, end) = spans.get(id as usize - 1).copied().unwrap_or_default();
            hash(fields.get(start..end).unwrap_or_default())
        };
        let wanted = hash(next);
        let is_next = |&id: &u32| {
            let span = spans.get(id as usize - 1);
            span.is_some_and(|&(start, end)| fields.get(start..end) == Some(next))
        };
        if let Some(&id) = self.ids.find(wanted, is_next) {
            return id;
        }
        protobuf::bytes(dictionary::STACK_TABLE, next, fields);
        spans.push((fields.len() - next.len(), fields.len()));
        let id = spans.len() as u32;
        self.ids
            .insert_unique(wanted, id, |&id| message(fields, spans, id));
        id
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}
