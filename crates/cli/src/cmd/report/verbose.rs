//! Additions of `-v` to tables: whole paths of objects, and before symbols an address and the origin of the name.

use oxperf_machine::{Dso, DsoKind, Machine};
use oxperf_profile::{NamesFrom, Profile};
use oxperf_resolve::SymbolSource;

/// Endings of compressed kernel modules.
const PACKED: [&str; 4] = [".gz", ".xz", ".zst", ".bz2"];

/// Finds out where the names of each object come from.
pub(in crate::cmd) fn note_origins(
    profile: &mut Profile,
    names: &dyn SymbolSource,
    machine: &Machine,
) {
    profile.origins = vec![None; profile.dsos.len()];
    let mut used = vec![false; profile.dsos.len()];
    profile
        .frames
        .iter()
        .filter_map(|frame| frame.dso)
        .for_each(|dso| used[dso.index()] = true);
    let dsos: Vec<&str> = profile.dsos.iter().map(|dso| dso.long.as_str()).collect();
    let numbers: std::collections::HashMap<&str, usize> = dsos.into_iter().zip(0..).collect();
    for dso in machine.objects().dsos() {
        let number = numbers
            .get(dso.name.as_str())
            .copied()
            .filter(|&number| used[number]);
        if let Some(number) = number.filter(|&number| profile.origins[number].is_none()) {
            profile.origins[number] = origin(dso, names, machine);
        }
    }
}

/// As in perf a module's names count as those of its file, wherever they are from.
fn origin(dso: &Dso, names: &dyn SymbolSource, machine: &Machine) -> Option<NamesFrom> {
    match dso.kind {
        DsoKind::Module if PACKED.iter().any(|end| dso.name.ends_with(end)) => {
            Some(NamesFrom::PackedModule)
        }
        DsoKind::Module => Some(NamesFrom::Module),
        _ => names.table(dso, machine.objects())?.names_from(),
    }
}
