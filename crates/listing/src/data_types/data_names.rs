//! Names of the data that instructions work on.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use oxperf_symbols::TypeId;

use super::{DataAccess, DataLayout, DataTypes};

/// The data that an instruction works on, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedData {
    /// The name of the type, or what else the data are; untrusted.
    pub name: String,
    /// Offset in bytes from the beginning of the type; `None` for data that are of no type.
    pub offset: Option<u64>,
    /// The name of the field that is there; untrusted.
    pub field: Option<String>,
}

/// Names data; each type is laid out once.
#[derive(Debug, Default)]
pub struct DataNames {
    layouts: HashMap<TypeId, DataLayout>,
}

impl DataNames {
    /// The data of an access; `None` where they are not known.
    pub fn name(&mut self, types: &mut DataTypes<'_>, access: DataAccess) -> Option<NamedData> {
        let untyped = |name: &str| NamedData {
            name: name.to_owned(),
            offset: None,
            field: None,
        };
        match access {
            DataAccess::Unknown(_) => None,
            DataAccess::Stack => Some(untyped("(stack operation)")),
            DataAccess::Canary => Some(untyped("(stack canary)")),
            DataAccess::Data { ty, offset, .. } => {
                let reader = types.reader()?;
                let layout = self.layouts.entry(ty);
                let layout = layout.or_insert_with(|| DataLayout::of(reader, ty));
                Some(NamedData {
                    name: layout.name.to_string(),
                    offset: Some(offset),
                    field: layout.field_at(offset),
                })
            }
        }
    }

    /// The layouts of the types that were named.
    pub fn into_layouts(self) -> impl Iterator<Item = DataLayout> {
        self.layouts.into_values()
    }
}

/// The typed data that the instructions of a function work on, by address: `struct node +0x8 (in.u)`.
pub fn typed_data(types: &mut DataTypes<'_>, function: Range<u64>) -> HashMap<u64, String> {
    let accesses = types.all_of(function);
    let mut names = DataNames::default();
    let words = accesses.into_iter().filter_map(|(address, access)| {
        let data = names.name(types, access)?;
        let offset = data.offset?;
        let mut words = data.name;
        // Writing to a string cannot fail.
        let _ = if offset == 0 {
            write!(words, " +0")
        } else {
            write!(words, " +{offset:#x}")
        };
        if let Some(field) = data.field {
            let _ = write!(words, " ({field})");
        }
        Some((address, words))
    });
    words.collect()
}
