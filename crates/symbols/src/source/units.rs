//! Units: where they lie, which addresses they cover, and what has been read of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use gimli::{AttributeValue, DebugInfoOffset, UnitHeader, UnitType};

use super::entry::{Budget, CodeAttributes, read};
use super::functions::Functions;
use super::lines::Lines;
use super::split::Home;
use super::{Dwarf, GimliUnit, Slice};
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
    pub(super) head: OnceLock<Option<Head>>,
    pub(super) lines: OnceLock<Lines>,
    pub(super) functions: OnceLock<Functions>,
    /// What entries of the unit are called.
    pub(super) names: Mutex<HashMap<usize, Option<Arc<str>>>>,
}

/// What is kept of a unit so that its entries can be read again without its first one.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) home: Home,
    /// Where the unit begins in the sections of its home.
    pub(super) offset: usize,
    pub(super) abbreviations: Arc<gimli::Abbreviations>,
    pub(super) low_pc: u64,
    pub(super) str_offsets_base: gimli::DebugStrOffsetsBase,
    pub(super) addr_base: gimli::DebugAddrBase,
    pub(super) rnglists_base: gimli::DebugRngListsBase,
    pub(super) loclists_base: gimli::DebugLocListsBase,
}

/// A unit's first entry.
pub(super) struct Root<'a> {
    /// The unit without its line program.
    pub(super) unit: GimliUnit<'a>,
    pub(super) code: CodeAttributes<'a>,
    pub(super) dwo_name: Option<AttributeValue<Slice<'a>>>,
    pub(super) comp_dir: Option<AttributeValue<Slice<'a>>>,
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// How many have been read.
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

/// What `.debug_aranges` says of each unit; units that are not in it are not in the map.
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
        return root.code.visit((dwarf, &root.unit), budget, visit);
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

/// Reads a unit's first entry.
pub(super) fn root<'a>(dwarf: &Dwarf<'a>, header: UnitHeader<Slice<'a>>) -> Option<Root<'a>> {
    let unit = bare(dwarf, header, dwarf.abbreviations(&header).ok()?);
    let mut root = Root {
        unit,
        code: CodeAttributes::default(),
        dwo_name: None,
        comp_dir: None,
    };
    let abbreviations = Arc::clone(&root.unit.abbreviations);
    let mut entries = header.entries_raw(&abbreviations, None).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    read(&mut entries, abbreviation, |name, value| {
        root.take(name, value)
    })
    .ok()?;
    // The first address counts from the base of addresses, which may come behind it.
    let low = root
        .code
        .low()
        .and_then(|low| dwarf.attr_address(&root.unit, low).ok().flatten());
    root.unit.low_pc = low.unwrap_or(0);
    Some(root)
}

impl<'a> Root<'a> {
    fn take(&mut self, name: gimli::DwAt, value: AttributeValue<Slice<'a>>) {
        self.code.take(name, &value);
        match (name, &value) {
            (gimli::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => {
                self.unit.str_offsets_base = *base;
            }
            (
                gimli::DW_AT_addr_base | gimli::DW_AT_GNU_addr_base,
                AttributeValue::DebugAddrBase(base),
            ) => {
                self.unit.addr_base = *base;
            }
            (
                gimli::DW_AT_rnglists_base | gimli::DW_AT_GNU_ranges_base,
                AttributeValue::DebugRngListsBase(base),
            ) => {
                self.unit.rnglists_base = *base;
            }
            (gimli::DW_AT_loclists_base, AttributeValue::DebugLocListsBase(base)) => {
                self.unit.loclists_base = *base;
            }
            (gimli::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => self.unit.dwo_id = Some(*id),
            (gimli::DW_AT_dwo_name | gimli::DW_AT_GNU_dwo_name, _) => self.dwo_name = Some(value),
            (gimli::DW_AT_comp_dir, _) => self.comp_dir = Some(value),
            _ => {}
        }
    }
}

impl Head {
    /// What is kept of a first entry that was read from `home`.
    pub(super) fn of(root: &Root<'_>, home: Home) -> Option<Head> {
        Some(Head {
            home,
            offset: root.unit.header.debug_info_offset()?.0,
            abbreviations: Arc::clone(&root.unit.abbreviations),
            low_pc: root.unit.low_pc,
            str_offsets_base: root.unit.str_offsets_base,
            addr_base: root.unit.addr_base,
            rnglists_base: root.unit.rnglists_base,
            loclists_base: root.unit.loclists_base,
        })
    }

    /// The unit again, without its line program, from the sections of its home.
    pub(super) fn open<'a>(&self, dwarf: &Dwarf<'a>) -> Option<GimliUnit<'a>> {
        let header = dwarf.unit_header(DebugInfoOffset(self.offset)).ok()?;
        let mut unit = bare(dwarf, header, Arc::clone(&self.abbreviations));
        unit.low_pc = self.low_pc;
        unit.str_offsets_base = self.str_offsets_base;
        unit.addr_base = self.addr_base;
        unit.rnglists_base = self.rnglists_base;
        unit.loclists_base = self.loclists_base;
        Some(unit)
    }
}

/// A unit of which nothing but the header is known.
fn bare<'a>(
    dwarf: &Dwarf<'a>,
    header: UnitHeader<Slice<'a>>,
    abbreviations: Arc<gimli::Abbreviations>,
) -> GimliUnit<'a> {
    let (encoding, file) = (header.encoding(), dwarf.file_type);
    GimliUnit {
        header,
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: gimli::DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file),
        addr_base: gimli::DebugAddrBase(0),
        loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(encoding, file),
        rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(encoding, file),
        line_program: None,
        dwo_id: match header.type_() {
            UnitType::Skeleton(id) | UnitType::SplitCompilation(id) => Some(id),
            _ => None,
        },
    }
}
