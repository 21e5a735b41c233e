//! The data that the instructions of a profile work on: their names and the layouts of their types.

use std::collections::HashMap;
use std::rc::Rc;

use oxperf_listing::{DataAccess, DataLayout, DataNames, NamedData};
use oxperf_machine::Machine;
use oxperf_profile::{DataPlace, DataPlaces, DsoId, Frame, Profile, ProfileSymbol};
use oxperf_query::SymbolOptions;
use oxperf_symbols::SymbolStore;

use crate::disasm_source::{CodeOptions, Sources};

/// The name of data of no known type.
const UNKNOWN: &str = "(unknown)";

/// The data that frames work on.
pub(crate) struct FoundData {
    /// The data by frame.
    pub(crate) places: DataPlaces,
    /// The types of the data, by the object whose code works on them and by their names.
    pub(crate) layouts: HashMap<(DsoId, String), DataLayout>,
}

/// A frame whose data were looked for.
pub(crate) struct Seen {
    /// Its number.
    pub(crate) frame: usize,
    /// The data that it works on; `None` where its function is not known.
    pub(crate) access: Option<DataAccess>,
    /// The first words of the instructions that name the data.
    pub(crate) instructions: Vec<Rc<str>>,
}

/// Finds the data of the frames that samples ran in. `observe` gets those in objects with debug information.
pub(crate) fn find(
    symbols: &SymbolOptions,
    machine: &Machine,
    store: &SymbolStore,
    profile: &Profile,
    observe: &mut dyn FnMut(Seen),
) -> FoundData {
    let mut sources = Sources::new(symbols, machine, store, &CodeOptions::default());
    let mut found: Vec<Option<DataPlace>> = vec![None; profile.frames.len()];
    let mut layouts = HashMap::new();
    for (dso, frames) in by_object(profile) {
        let Some(object) = profile.dsos.get(dso.index()) else {
            continue;
        };
        sources.data_types(&object.long, |types, range| {
            if !types.is_told() {
                return;
            }
            let mut names = DataNames::default();
            for (nth, frame, symbol) in frames {
                let code = symbol.and_then(|symbol| {
                    let range = range(symbol)?;
                    let address = range
                        .start
                        .checked_add(frame.dso_address.checked_sub(symbol.start)?)?;
                    Some((range, address))
                });
                let access = code
                    .clone()
                    .map(|(range, address)| types.at(range, address));
                found[nth] = access
                    .and_then(|access| names.name(types, access))
                    .map(data_place);
                let instructions = code.map(|(range, address)| types.instructions(range, address));
                observe(Seen {
                    frame: nth,
                    access,
                    instructions: instructions.unwrap_or_default(),
                });
            }
            for layout in names.into_layouts() {
                layouts
                    .entry((dso, layout.name.to_string()))
                    .or_insert(layout);
            }
        });
    }
    let mut places = DataPlaces::default();
    found
        .into_iter()
        .for_each(|place| places.push(place.unwrap_or_else(|| DataPlace::untyped(UNKNOWN))));
    FoundData { places, layouts }
}

/// A frame with its number and its function.
type Ran<'p> = (usize, &'p Frame, Option<&'p ProfileSymbol>);

/// The frames that samples ran in, by object.
fn by_object(profile: &Profile) -> HashMap<DsoId, Vec<Ran<'_>>> {
    let mut ran = vec![false; profile.frames.len()];
    for group in profile.events.iter().flat_map(|event| &event.groups) {
        if let Some(ran) = ran.get_mut(group.frame.index()) {
            *ran = true;
        }
    }
    let mut by_object: HashMap<DsoId, Vec<Ran<'_>>> = HashMap::new();
    for (nth, frame) in profile
        .frames
        .iter()
        .enumerate()
        .filter(|(nth, _)| ran[*nth])
    {
        let symbol = frame
            .symbol
            .and_then(|symbol| profile.symbols.get(symbol.index()));
        if let Some(dso) = frame.dso {
            by_object.entry(dso).or_default().push((nth, frame, symbol));
        }
    }
    by_object
}

fn data_place(data: NamedData) -> DataPlace {
    DataPlace {
        name: data.name,
        offset: data.offset,
        field: data.field,
    }
}
