//! The data that the instructions of a profile work on: what to call them, and how their types are laid out.

use std::collections::HashMap;
use std::ops::Range;

use clap::ArgMatches;
use oxperf_analysis::profile::{DataPlace, DataPlaces, DsoId, Frame, Profile, Symbol};
use oxperf_listing::{DataAccess, DataLayout, DataTypes};
use oxperf_machine::Machine;
use oxperf_symbols::{SymbolStore, TypeId};

use crate::code::{CodeOptions, Sources};

/// What frames without a type work on.
const UNKNOWN: &str = "(unknown)";

/// What frames work on.
pub(crate) struct FoundData {
    /// The data by frame.
    pub(crate) places: DataPlaces,
    /// The types of the data, by the object whose code works on them and by their names.
    pub(crate) layouts: HashMap<(DsoId, String), DataLayout>,
}

/// What the frames work on that samples ran in.
pub(crate) fn find(
    matches: &ArgMatches,
    (machine, store): (&Machine, &SymbolStore),
    profile: &Profile,
) -> FoundData {
    let mut sources = Sources::new(matches, (machine, store), &CodeOptions::default());
    let mut found: Vec<Option<DataPlace>> = vec![None; profile.frames.len()];
    let mut layouts = HashMap::new();
    for (dso, frames) in by_object(profile) {
        let Some(object) = profile.dsos.get(dso.index()) else { continue };
        sources.data_types(&object.long, |types, range| {
            let mut naming = Naming { types, layouts: HashMap::new() };
            for (nth, frame, symbol) in frames {
                found[nth] = range(symbol).and_then(|range| {
                    let address = range.start.checked_add(frame.dso_address.checked_sub(symbol.start)?)?;
                    naming.place(range, address)
                });
            }
            for layout in naming.layouts.into_values() {
                layouts.entry((dso, layout.name.to_string())).or_insert(layout);
            }
        });
    }
    let mut places = DataPlaces::default();
    found.into_iter().for_each(|place| places.push(place.unwrap_or_else(|| DataPlace::untyped(UNKNOWN))));
    FoundData { places, layouts }
}

/// A frame with its number and its function.
type Ran<'p> = (usize, &'p Frame, &'p Symbol);

/// The frames that samples ran in and whose functions are known, by object.
fn by_object(profile: &Profile) -> HashMap<DsoId, Vec<Ran<'_>>> {
    let mut ran = vec![false; profile.frames.len()];
    for group in profile.events.iter().flat_map(|event| &event.groups) {
        if let Some(ran) = ran.get_mut(group.frame.index()) {
            *ran = true;
        }
    }
    let mut by_object: HashMap<DsoId, Vec<Ran<'_>>> = HashMap::new();
    for (nth, frame) in profile.frames.iter().enumerate().filter(|(nth, _)| ran[*nth]) {
        let symbol = frame.symbol.and_then(|symbol| profile.symbols.get(symbol.index()));
        if let Some((dso, symbol)) = frame.dso.zip(symbol) {
            by_object.entry(dso).or_default().push((nth, frame, symbol));
        }
    }
    by_object
}

/// Turns what instructions work on into words.
struct Naming<'t, 'd> {
    types: &'t mut DataTypes<'d>,
    layouts: HashMap<TypeId, DataLayout>,
}

impl Naming<'_, '_> {
    /// What the instruction at an address of a function works on; `None` where it is not known.
    fn place(&mut self, function: Range<u64>, address: u64) -> Option<DataPlace> {
        match self.types.at(function, address) {
            DataAccess::Unknown(_) => None,
            DataAccess::Stack => Some(DataPlace::untyped("(stack operation)")),
            DataAccess::Canary => Some(DataPlace::untyped("(stack canary)")),
            DataAccess::Data { ty, offset } => {
                let reader = self.types.reader()?;
                let layout = self.layouts.entry(ty).or_insert_with(|| DataLayout::of(reader, ty));
                Some(DataPlace {
                    name: layout.name.to_string(),
                    offset: Some(offset),
                    field: layout.field_at(offset),
                })
            }
        }
    }
}
