//! Source lines of located addresses, as texts.

use std::fmt::Write;

use oxperf_machine::Machine;
use oxperf_resolve::{LocatedFrame as Located, Names};
use oxperf_symbols::SourceLine;
use rustc_hash::FxHashMap;

use super::LineText;
use oxperf_profile::{Profile, Source, SourceId};

/// The texts by what they are; each stands in the profile once.
#[derive(Debug, Default)]
pub(super) struct Sources {
    known: FxHashMap<String, SourceId>,
}

impl Sources {
    /// The text of lines that an object with debug information does not tell.
    const UNKNOWN: &str = "??:0";

    /// The source of a place whose line is known, or of an address without one.
    pub(super) fn of(
        &mut self,
        located: &Located,
        line: Option<&SourceLine>,
        text: LineText,
        (names, machine): (&Names<'_>, &Machine),
        profile: &mut Profile,
    ) -> Source {
        if let Some(SourceLine { file, line, .. }) = line {
            let name = file.rsplit_once('/').map_or(&**file, |(_, name)| name);
            let shown = if text.whole_paths { file } else { name };
            let line = self.id(format!("{shown}:{line}"), profile);
            return Source {
                line,
                file: self.id(shown.to_owned(), profile),
            };
        }
        // As perf has it where the object's tools know the place and have no line.
        let is_known = |place| names.is_known_to_tools(machine.objects(), &place);
        let (line, file) = match located.place.is_some_and(is_known) {
            true => (Self::UNKNOWN.to_owned(), "??"),
            false => (stand_in(located, names, machine), ""),
        };
        Source {
            line: self.id(line, profile),
            file: self.id(file.to_owned(), profile),
        }
    }

    fn id(&mut self, text: String, profile: &mut Profile) -> SourceId {
        let sources = &mut profile.sources;
        *self.known.entry(text).or_insert_with_key(|text| {
            sources.push(text.clone());
            SourceId(sources.len() as u32 - 1)
        })
    }
}

/// What stands for a line that is not known: the distance from the symbol, else the address in the object, if there is one.
fn stand_in(located: &Located, names: &Names<'_>, machine: &Machine) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match located
        .place
        .map(|place| (place, names.name(machine.objects(), &place)))
    {
        Some((place, Some(name))) => write!(
            text,
            "{}+{}",
            name.text,
            place.address.wrapping_sub(name.start)
        ),
        Some((place, None)) => {
            let address = names.object_address(machine.objects(), &place);
            write!(text, "{}[{address:x}]", machine.dso(place.dso).short_name)
        }
        None => write!(text, "{}", Sources::UNKNOWN),
    };
    text
}
