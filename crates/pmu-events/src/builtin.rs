//! The built-in tables.

use crate::mapfile;
use crate::packed::PackedTables;
use crate::store::Store;
use std::sync::OnceLock;

/// Written by `cargo xtask pmu-events`.
static PACKED: &[u8] = include_bytes!("builtin/tables.bin");

/// The directory of the built-in tables, read once: every name that is looked up asks it. `None` where they are damaged.
fn directory() -> Option<&'static PackedTables<'static>> {
    static DIRECTORY: OnceLock<Option<PackedTables<'static>>> = OnceLock::new();
    DIRECTORY
        .get_or_init(|| PackedTables::read(PACKED).ok())
        .as_ref()
}

/// The paths of the tables for a CPU; none when none are built in for it.
pub(crate) fn paths(cpu_id: &str) -> Vec<&'static str> {
    let mut paths = Vec::new();
    if let Some(tables) = directory() {
        for row in mapfile::rows_for(tables.mapfile, cpu_id) {
            if !paths.contains(&row.path) {
                paths.push(row.path);
            }
        }
    }
    paths
}

/// Returns whether built-in tables may have an event of this name in lower case; says so without unpacking any.
pub(crate) fn may_have(name: &str) -> bool {
    directory().is_some_and(|tables| tables.may_have(name))
}

/// The events at these paths. That every block can be read is tested, so a fault here means no events.
pub(crate) fn unpack(paths: &[&str]) -> Store {
    let unpacked = directory().map(|tables| tables.unpack(paths));
    unpacked.and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapfile::Mapfile;

    #[test]
    fn every_row_has_its_tables_and_every_block_can_be_read() {
        let tables = PackedTables::read(PACKED).unwrap();
        let (map, refused) = Mapfile::parse(tables.mapfile);
        assert_eq!(refused, []);
        let paths: Vec<&str> = tables.paths().collect();
        assert!(paths.len() >= 100);
        for row in map.rows() {
            assert!(paths.contains(&row.path), "{}", row.path);
            let store = tables.unpack(&[row.path]).unwrap();
            assert!(store.events().count() > 10, "{}", row.path);
        }
    }

    #[test]
    fn the_tables_are_small() {
        assert!(PACKED.len() < 500_000, "{}", PACKED.len());
    }
}
