//! The mappings that locations lie in, as the formats of pprof's kind number them.

use oxperf_profile::{DsoId, FrameId};
use rustc_hash::FxHashMap;

use super::code::{CodeExport, ExportedMapping};

/// Mappings by their numbers, from 1.
#[derive(Default)]
pub(super) struct Mappings<'a> {
    list: Vec<LocatedMapping<'a>>,
    ids: FxHashMap<(DsoId, Option<usize>), u64>,
}

/// A mapping, and what is known of the locations in it.
pub(super) struct LocatedMapping<'a> {
    pub(super) dso: DsoId,
    /// The place among the mappings of its object; `None` for code that none of them shows.
    pub(super) part: Option<usize>,
    pub(super) path: &'a str,
    pub(super) has_functions: bool,
    pub(super) has_lines: bool,
    pub(super) has_files: bool,
}

impl<'a> Mappings<'a> {
    /// The main program's mapping.
    pub(super) fn main_first(code: &CodeExport<'a>) -> Mappings<'a> {
        let mut mappings = Mappings::default();
        if let Some(main) = code.objects.iter().position(|object| object.is_main) {
            let part = (!code.objects[main].mappings.is_empty()).then_some(0);
            mappings.id(code, DsoId(main as u32), part);
        }
        mappings
    }

    fn id(&mut self, code: &CodeExport<'a>, dso: DsoId, part: Option<usize>) -> u64 {
        let list = &mut self.list;
        *self.ids.entry((dso, part)).or_insert_with(|| {
            list.push(LocatedMapping {
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
        let shown = |mapping: &ExportedMapping| mapping.memory_address(frame.dso_address);
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

    /// Each, in the order of their numbers.
    pub(super) fn list(&self) -> &[LocatedMapping<'a>] {
        &self.list
    }
}
