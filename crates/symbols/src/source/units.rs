//! Units: where they lie, which addresses they cover, and what has been read of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use gimli::{DebugInfoOffset, UnitHeader, UnitType};

use super::entry::Budget;
use super::functions::Functions;
use super::lines::Lines;
use super::unit_head::{UnitHead, root};
use super::{Dwarf, Slice};
use crate::spans::Spans;

/// All units of a file.
#[derive(Debug, Default)]
pub(super) struct Units {
    /// In order of their offsets.
    list: Vec<Unit>,
    by_address: Spans<u32>,
}

/// One unit; everything but its place is read when it is first needed.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) offset: usize,
    pub(super) head: OnceLock<Option<UnitHead>>,
    pub(super) lines: OnceLock<Lines>,
    pub(super) functions: OnceLock<Functions>,
    /// The name of entries of the unit.
    pub(super) names: Mutex<HashMap<usize, Option<Arc<str>>>>,
}

impl Units {
    /// Finds the units of a file. With `addresses` also the code that each covers: from the table made for that, else
    /// from the units' first entries.
    pub(super) fn find(mut dwarf: Dwarf<'_>, addresses: bool) -> Units {
        if addresses {
            // Units may share their abbreviations, even all of them.
            dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        }
        let (dwarf, mut budget) = (&dwarf, Budget::of(&dwarf));
        let mut list = Vec::new();
        let mut headers = dwarf.units();
        let mut ranges = Vec::new();
        let listed = if addresses {
            listed_ranges(dwarf)
        } else {
            HashMap::new()
        };
        while let Ok(Some(header)) = headers.next() {
            let (Some(DebugInfoOffset(offset)), Ok(index)) =
                (header.debug_info_offset(), u32::try_from(list.len()))
            else {
                break;
            };
            if addresses {
                match listed.get(&offset) {
                    Some(known) => {
                        ranges.extend(known.iter().map(|&(start, end)| (start, end, index)))
                    }
                    None => {
                        own_ranges(dwarf, header, &mut budget, |start, end| {
                            ranges.push((start, end, index))
                        });
                    }
                }
            }
            list.push(Unit::at(offset));
        }
        ranges.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
        Units {
            list,
            by_address: Spans::cut(ranges.into_iter()),
        }
    }

    /// The unit that covers an address.
    pub(super) fn at_address(&self, address: u64) -> Option<&Unit> {
        self.list.get(self.by_address.find(address)? as usize)
    }

    /// The unit that holds an offset of `.debug_info`.
    pub(super) fn at_offset(&self, offset: usize) -> Option<&Unit> {
        let after = self.list.partition_point(|unit| unit.offset <= offset);
        self.list.get(after.checked_sub(1)?)
    }

    /// All of them, in order of their offsets.
    pub(super) fn all(&self) -> &[Unit] {
        &self.list
    }

    /// Their number.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Number of units that have been read.
    pub(super) fn touched(&self) -> usize {
        self.list
            .iter()
            .filter(|unit| unit.head.get().is_some() || unit.lines.get().is_some())
            .count()
    }
}

impl Unit {
    fn at(offset: usize) -> Unit {
        Unit {
            offset,
            head: OnceLock::new(),
            lines: OnceLock::new(),
            functions: OnceLock::new(),
            names: Mutex::default(),
        }
    }
}

/// The ranges of each unit by `.debug_aranges`; units that are not in it are not in the map.
fn listed_ranges(dwarf: &Dwarf<'_>) -> HashMap<usize, Vec<(u64, u64)>> {
    let mut ranges: HashMap<usize, Vec<(u64, u64)>> = HashMap::new();
    let mut headers = dwarf.debug_aranges.headers();
    while let Ok(Some(header)) = headers.next() {
        let known = ranges.entry(header.debug_info_offset().0).or_default();
        let mut entries = header.entries();
        while let Ok(Some(entry)) = entries.next() {
            if let Some(end) = entry
                .address()
                .checked_add(entry.length())
                .filter(|_| entry.length() > 0)
            {
                known.push((entry.address(), end));
            }
        }
    }
    // A unit without ranges in the table may have been left out of it.
    ranges.retain(|_, known| !known.is_empty());
    ranges
}

/// The ranges of a unit by its first entry, or by its line table where that says nothing.
fn own_ranges<'a>(
    dwarf: &Dwarf<'a>,
    header: UnitHeader<Slice<'a>>,
    budget: &mut Budget,
    mut visit: impl FnMut(u64, u64),
) {
    if !matches!(
        header.type_(),
        UnitType::Compilation | UnitType::Skeleton(_)
    ) {
        return;
    }
    let Some(root) = root(dwarf, header) else {
        return;
    };
    if root.code.any() {
        return root.code.visit(dwarf, &root.unit, budget, visit);
    }
    let Ok(unit) = dwarf.unit(header) else { return };
    let size = unit
        .line_program
        .as_ref()
        .map_or(0, |program| program.header().raw_program_buf().len());
    if budget.spend(size) {
        Lines::read(dwarf, &unit)
            .ranges()
            .into_iter()
            .for_each(|(start, end)| visit(start, end));
    }
}
