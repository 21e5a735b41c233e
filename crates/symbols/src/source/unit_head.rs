//! A unit's first entry, and the parts of it that are kept to read further entries.

use std::sync::Arc;

use gimli::{AttributeValue, DebugInfoOffset, DwoId, UnitHeader, UnitType};

use super::entry::{CodeAttributes, read};
use super::sections::Sections;
use super::{Dwarf, GimliUnit, Slice};

/// The file that holds the entries of a unit.
#[derive(Debug)]
pub(super) enum UnitHome {
    /// In the file itself.
    Here,
    /// In a file of its own.
    File(Box<Sections>),
    /// In the package.
    Package(DwoId),
}

impl UnitHome {
    /// The location lists of the unit's variables, if its home keeps them apart from the rest.
    pub(super) fn locations(&self) -> Option<gimli::LocationLists<super::Slice<'_>>> {
        match self {
            UnitHome::File(sections) => Some(sections.locations()),
            UnitHome::Here | UnitHome::Package(_) => None,
        }
    }
}

/// The attributes of a unit that are kept so that its entries can be read again without its first one.
#[derive(Debug)]
pub(super) struct UnitHead {
    pub(super) home: UnitHome,
    /// Offset of the unit in the sections of its home.
    pub(super) offset: usize,
    pub(super) abbreviations: Arc<gimli::Abbreviations>,
    pub(super) low_pc: u64,
    pub(super) str_offsets_base: gimli::DebugStrOffsetsBase,
    pub(super) addr_base: gimli::DebugAddrBase,
    pub(super) rnglists_base: gimli::DebugRngListsBase,
    pub(super) loclists_base: gimli::DebugLocListsBase,
}

/// A unit's first entry.
pub(super) struct UnitRoot<'a> {
    /// The unit without its line program.
    pub(super) unit: GimliUnit<'a>,
    pub(super) code: CodeAttributes<'a>,
    pub(super) dwo_name: Option<AttributeValue<Slice<'a>>>,
    pub(super) comp_dir: Option<AttributeValue<Slice<'a>>>,
}

/// Reads a unit's first entry.
pub(super) fn root<'a>(dwarf: &Dwarf<'a>, header: UnitHeader<Slice<'a>>) -> Option<UnitRoot<'a>> {
    let unit = bare(dwarf, header, dwarf.abbreviations(&header).ok()?);
    let mut root = UnitRoot {
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

impl<'a> UnitRoot<'a> {
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

impl UnitHead {
    /// The head that belongs to a first entry, read from `home`.
    pub(super) fn of(root: &UnitRoot<'_>, home: UnitHome) -> Option<UnitHead> {
        Some(UnitHead {
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
