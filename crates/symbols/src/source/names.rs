//! The name of entries of functions.
//!
//! The name may stand at the entry itself, at the declaration that it completes, or at the function that it is a copy
//! of; these may lie in other units, and in a file that several objects share.

use gimli::{AttributeValue, UnitOffset};

use super::entry::read;
use super::{Dwarf, GimliUnit, Slice};

/// Number of entries that may refer to each other.
pub(super) const REFERENCES_LIMIT: usize = 16;

/// The position of another entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// In the same unit, by its distance from the unit's begin.
    Unit(usize),
    /// Anywhere in the same file's `.debug_info`.
    File(usize),
    /// In the `.debug_info` of the common file.
    Common(usize),
}

impl Origin {
    /// The entry that an attribute refers to.
    pub(super) fn of(value: &AttributeValue<Slice<'_>>) -> Option<Origin> {
        match value {
            AttributeValue::UnitRef(UnitOffset(offset)) => Some(Origin::Unit(*offset)),
            AttributeValue::DebugInfoRef(gimli::DebugInfoOffset(offset)) => {
                Some(Origin::File(*offset))
            }
            AttributeValue::DebugInfoRefSup(gimli::DebugInfoOffset(offset)) => {
                Some(Origin::Common(*offset))
            }
            _ => None,
        }
    }
}

/// The part of a name that one entry states.
#[derive(Debug, Default)]
pub(super) struct Naming {
    pub(super) linkage: Option<String>,
    pub(super) name: Option<String>,
    /// The entry that says more.
    pub(super) origin: Option<Origin>,
}

/// Reads what an entry says of its name.
pub(super) fn naming<'a>(dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>, entry: usize) -> Option<Naming> {
    let mut entries = unit.entries_raw(Some(UnitOffset(entry))).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    let mut naming = Naming::default();
    let text = |value| {
        dwarf
            .attr_string(unit, value)
            .ok()
            .map(|text| text.to_string_lossy().into_owned())
    };
    read(&mut entries, abbreviation, |name, value| match name {
        gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => naming.linkage = text(value),
        gimli::DW_AT_name => naming.name = text(value),
        gimli::DW_AT_abstract_origin => naming.origin = Origin::of(&value),
        gimli::DW_AT_specification => naming.origin = naming.origin.or(Origin::of(&value)),
        _ => {}
    })
    .ok()?;
    Some(naming)
}
