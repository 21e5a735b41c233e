//! The objects of a profile as exported files show them: where they were mapped, and which is the program.

use oxperf_machine::{Dso, DsoId as MachineDso, Machine, Map, ThreadId as MachineThread};
use oxperf_present::export::{ExportedMapping, ExportedObject};
use oxperf_profile::{DsoId, Frame, Profile};
use oxperf_resolve::{DsoAddress, Names, SymbolSource};
use rustc_hash::FxHashMap;

/// The objects of a profile, and the addresses that their own tools give its frames.
pub(super) struct LocatedObjects {
    /// Each object of the profile.
    pub(super) objects: Vec<ExportedObject>,
    /// The address of each frame.
    pub(super) addresses: Vec<u64>,
}

/// Finds the mappings of a profile's objects in the machine that it comes from.
pub(super) fn of(profile: &Profile, machine: &Machine, names: &dyn SymbolSource) -> LocatedObjects {
    let by_name = by_name(profile);
    let mut objects = vec![ExportedObject::default(); profile.dsos.len()];
    let mut of_machine: Vec<Option<MachineDso>> = vec![None; profile.dsos.len()];
    for dso in machine.objects().dsos() {
        let Some(id) = by_name.get(dso.name.as_str()) else {
            continue;
        };
        let object = &mut objects[id.index()];
        object.build_id = object.build_id.or(dso.build_id);
        of_machine[id.index()].get_or_insert(dso.id);
    }
    for map in machine.maps().iter().filter(|map| map.may_be_run()) {
        let name = &machine.dso(map.dso).name;
        if let Some(id) = by_name.get(name.as_str()) {
            add_mapping(map, &mut objects[id.index()].mappings);
        }
    }
    if let Some(main) = main_program(profile, machine)
        && let Some(id) = by_name.get(main.name.as_str())
    {
        objects[id.index()].is_main = true;
    }
    let addresses = addresses(profile, machine, &of_machine, names);
    for (frame, address) in profile.frames.iter().zip(&addresses) {
        if let Some(object) = frame.dso.and_then(|dso| objects.get_mut(dso.index())) {
            object.base = base(frame, *address, object);
        }
    }
    LocatedObjects { objects, addresses }
}

fn by_name(profile: &Profile) -> FxHashMap<&str, DsoId> {
    let names = profile.dsos.iter().map(|dso| dso.long.as_str());
    names.zip((0..).map(DsoId)).collect()
}

/// Adds a mapping, unless another one shows the same part of the object.
fn add_mapping(map: &Map, mappings: &mut Vec<ExportedMapping>) {
    let first = map.dso_address(map.start);
    let shows_same = |known: &ExportedMapping| {
        let start = known.start.wrapping_add(known.bias);
        start == first && known.end - known.start >= map.end.saturating_sub(map.start)
    };
    if map.end <= map.start || mappings.iter().any(shows_same) {
        return;
    }
    // What is mapped to its own addresses has no file to speak of.
    let file_offset = if map.bias == 0 { 0 } else { map.file_offset };
    mappings.push(ExportedMapping {
        start: map.start,
        end: map.end,
        file_offset,
        bias: map.bias,
    });
}

/// The program of the process with most samples.
fn main_program<'m>(profile: &Profile, machine: &'m Machine) -> Option<&'m Dso> {
    let mut samples: Vec<u64> = vec![0; profile.threads.len()];
    let events = profile.events.iter();
    for group in events.flat_map(|event| &event.groups) {
        if let Some(sum) = samples.get_mut(group.thread.index()) {
            *sum += group.samples;
        }
    }
    let mut threads: Vec<(u64, u32)> = samples.into_iter().zip(0..).collect();
    threads.retain(|(samples, _)| *samples > 0);
    threads.sort_unstable_by_key(|&(samples, thread)| (std::cmp::Reverse(samples), thread));
    threads
        .into_iter()
        .find_map(|(_, thread)| machine.program_of(MachineThread(thread)))
}

/// The addresses that the tools of a frame's object know it by.
fn addresses(
    profile: &Profile,
    machine: &Machine,
    of_machine: &[Option<MachineDso>],
    names: &dyn SymbolSource,
) -> Vec<u64> {
    let names = Names::new(names);
    let address = |frame: &Frame| {
        let dso = frame
            .dso
            .and_then(|dso| of_machine.get(dso.index()).copied().flatten());
        dso.map_or(frame.dso_address, |dso| {
            let address = frame.dso_address;
            names.object_address(machine.objects(), &DsoAddress { dso, address })
        })
    };
    profile.frames.iter().map(address).collect()
}

/// The address that an object's tools give its first byte: not 0 for what runs where it was linked to.
fn base(frame: &Frame, address: u64, object: &ExportedObject) -> u64 {
    match object.mappings.first() {
        Some(mapping) if address == frame.address => {
            mapping.start.saturating_sub(mapping.file_offset)
        }
        _ => object.base,
    }
}
