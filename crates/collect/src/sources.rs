//! Source lines of located addresses, as texts.

use std::fmt::Write;
use std::num::NonZeroU32;

use oxperf_profile::{Source, SourceId};
use oxperf_resolve::LocatedFrame as Located;
use oxperf_symbols::SourceLine;
use rustc_hash::FxHashMap;

use super::lookup::SymbolLookup;
use super::options::LineText;

/// An address, with its source line where that is known.
#[derive(Clone, Copy)]
pub(super) struct LineAt<'a> {
    pub(super) located: &'a Located,
    pub(super) line: Option<&'a SourceLine>,
}

/// The texts by their ids; each stands in the profile once.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceTable {
    known: FxHashMap<String, SourceId>,
}

impl SourceTable {
    /// The text of lines that the debug information of an object leaves out.
    const UNKNOWN: &str = "??:0";

    /// The source of a place whose line is known, or of an address without one. New texts are added to `texts`, the
    /// profile's.
    pub(super) fn of(
        &mut self,
        at: LineAt<'_>,
        form: LineText,
        lookup: SymbolLookup<'_, '_>,
        texts: &mut Vec<String>,
    ) -> Source {
        let LineAt { located, line } = at;
        if let Some(SourceLine { file, line, .. }) = line {
            let name = file.rsplit_once('/').map_or(&**file, |(_, name)| name);
            let shown = if form.whole_paths { file } else { name };
            return Source {
                line: self.id(format!("{shown}:{line}"), texts),
                file: self.id(shown.to_owned(), texts),
                number: NonZeroU32::new(*line),
            };
        }
        // As perf has it where the object's tools know the place and have no line.
        let objects = lookup.machine.objects();
        let is_known = |place| lookup.names.is_known_to_tools(objects, &place);
        let (line, file) = if located.place.is_some_and(is_known) {
            (Self::UNKNOWN.to_owned(), "??")
        } else {
            (stand_in(located, lookup), "")
        };
        Source {
            line: self.id(line, texts),
            file: self.id(file.to_owned(), texts),
            number: None,
        }
    }

    fn id(&mut self, text: String, texts: &mut Vec<String>) -> SourceId {
        *self.known.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            SourceId(texts.len() as u32 - 1)
        })
    }
}

/// The text in place of an unknown line: the distance from the symbol, else the address in the object, if there is one.
fn stand_in(located: &Located, lookup: SymbolLookup<'_, '_>) -> String {
    let Some(place) = located.place else {
        return SourceTable::UNKNOWN.to_owned();
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match lookup.name(&place) {
        Some(name) => {
            let offset = place.address.wrapping_sub(name.start);
            write!(text, "{}+{offset}", name.text)
        }
        None => {
            let machine = lookup.machine;
            let address = lookup.names.object_address(machine.objects(), &place);
            let dso = machine.dso(place.dso);
            write!(text, "{}[{address:x}]", dso.short_name)
        }
    };
    text
}
