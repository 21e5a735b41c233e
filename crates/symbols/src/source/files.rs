//! The paths of a line table's files.

use std::path::Path;
use std::sync::Arc;

use super::{Dwarf, GimliUnit, Slice};

/// The paths of all files of a unit's line table, by the numbers that rows and calls use.
pub(super) fn paths<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    header: &gimli::LineProgramHeader<Slice<'a>>,
) -> Vec<Arc<str>> {
    let base = unit
        .comp_dir
        .map(|dir| dir.to_string_lossy().into_owned())
        .unwrap_or_default();
    // Up to version 4 files are counted from 1, and 0 is the unit's own.
    let first = u64::from(header.version() <= 4);
    let count = header.file_names().len() as u64 + first;
    (0..count)
        .map(|index| path(dwarf, unit, header, index, &base).into())
        .collect()
}

fn path<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    header: &gimli::LineProgramHeader<Slice<'a>>,
    index: u64,
    base: &str,
) -> String {
    let text = |value| {
        dwarf
            .attr_string(unit, value)
            .ok()
            .map(|text| text.to_string_lossy().into_owned())
    };
    let Some(file) = header.file(index) else {
        return unit
            .name
            .map(|name| join(base, &name.to_string_lossy()))
            .unwrap_or_default();
    };
    let name = text(file.path_name()).unwrap_or_default();
    if Path::new(&name).is_absolute() {
        return name;
    }
    match file.directory(header).and_then(text) {
        Some(directory) => join(&join(base, &directory), &name),
        None => join(base, &name),
    }
}

/// `name` below `base`, unless it is a path from the root; nothing is taken away, as compilers' paths may not be ours.
fn join(base: &str, name: &str) -> String {
    match (base, name) {
        (_, name) if name.starts_with('/') => name.to_owned(),
        ("", name) => name.to_owned(),
        (base, "") => base.to_owned(),
        (base, name) => format!("{}/{name}", base.strip_suffix('/').unwrap_or(base)),
    }
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn names_stand_below_their_folder() {
        assert_eq!(join("/a", "b/c.c"), "/a/b/c.c");
        assert_eq!(join("/a/", "b"), "/a/b");
        assert_eq!(join("/a", "/b"), "/b");
        assert_eq!((join("", "b"), join("/a", "")), ("b".into(), "/a".into()));
    }
}
