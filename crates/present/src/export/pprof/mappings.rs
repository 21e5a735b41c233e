//! The mappings of a file of pprof: those that locations lie in, the main program's first.

use oxperf_profile::{DsoId, FrameId};
use rustc_hash::FxHashMap;

use super::super::code::CodeExport;
use super::super::protobuf;
use super::{Strings, profile};

/// Mappings by their numbers, from 1.
pub(super) struct Mappings<'a> {
    list: Vec<Mapping<'a>>,
    ids: FxHashMap<(DsoId, Option<usize>), u64>,
}

struct Mapping<'a> {
    dso: DsoId,
    /// The place among the mappings of its object; `None` for code that none of them shows.
    part: Option<usize>,
    path: &'a str,
    has_functions: bool,
    has_lines: bool,
    has_files: bool,
}

impl<'a> Mappings<'a> {
    /// The main program's mapping.
    pub(super) fn new(code: &CodeExport<'a>) -> Mappings<'a> {
        let mut mappings = Mappings {
            list: Vec::new(),
            ids: FxHashMap::default(),
        };
        if let Some(main) = code.objects.iter().position(|object| object.is_main) {
            let part = (!code.objects[main].mappings.is_empty()).then_some(0);
            mappings.id(code, DsoId(main as u32), part);
        }
        mappings
    }

    fn id(&mut self, code: &CodeExport<'a>, dso: DsoId, part: Option<usize>) -> u64 {
        let list = &mut self.list;
        *self.ids.entry((dso, part)).or_insert_with(|| {
            list.push(Mapping {
                dso,
                part,
                path: code.path(dso),
                has_functions: false,
                has_lines: false,
                has_files: false,
            });
            list.len() as u64
        })
    }

    /// The mapping of a frame, if it has an object, and its address in memory.
    pub(super) fn find(
        &mut self,
        code: &CodeExport<'a>,
        frame: FrameId,
    ) -> Option<(Option<u64>, u64)> {
        let frame = code.frame(frame)?;
        let Some(dso) = frame.dso else {
            return Some((None, frame.address));
        };
        let parts = code.objects.get(dso.index());
        let parts = parts.map_or(&[][..], |object| &object.mappings);
        let shown = |mapping: &super::super::code::ExportedMapping| {
            mapping.memory_address(frame.dso_address)
        };
        let found = parts
            .iter()
            .map(shown)
            .enumerate()
            .find_map(|(part, at)| Some((part, at?)));
        let (part, address) = match found {
            Some((part, address)) => (Some(part), address),
            None => (None, frame.address),
        };
        let id = self.id(code, dso, part);
        if let Some(mapping) = self.list.get_mut(id as usize - 1) {
            mapping.has_functions |= frame.symbol.is_some();
            mapping.has_files |= code.file(frame).is_some();
            mapping.has_lines |= frame.source.is_some_and(|source| source.number.is_some());
        }
        Some((Some(id), address))
    }

    pub(super) fn write(&self, code: &CodeExport<'a>, strings: &mut Strings, out: &mut Vec<u8>) {
        for (id, mapping) in (1..).zip(&self.list) {
            let object = code.objects.get(mapping.dso.index());
            let range = object
                .zip(mapping.part)
                .and_then(|(object, part)| object.mappings.get(part));
            let build_id = object.and_then(|object| object.build_id);
            let build_id = build_id.map_or_else(String::new, |id| id.to_string());
            let mut message = Vec::new();
            protobuf::number(1, id, &mut message);
            if let Some(range) = range {
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
}
