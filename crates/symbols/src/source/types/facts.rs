//! Facts of the entries of types and of their fields.

use std::sync::Arc;

use gimli::{AttributeValue, UnitOffset};

use super::super::entry::read;
use super::super::names::Origin;
use super::super::object::OpenUnit;
use super::super::{Dwarf, GimliUnit, Slice};
use super::{TypeFacts, TypeKind, TypeMember};

/// Number of fields of a type that are read.
const MEMBERS_LIMIT: usize = 1 << 16;
/// Limit of the depth to which entries of a type may stand in each other where a nested one is left out.
const NESTED_LIMIT: usize = 1 << 20;

/// The facts of an entry, with where the type it is made from stands in place of its number.
pub(super) fn facts(open: &OpenUnit<'_>, entry: usize) -> Option<(TypeFacts, Option<Origin>)> {
    let (dwarf, unit) = (&open.dwarf, &open.unit);
    let mut entries = unit.entries_raw(Some(UnitOffset(entry))).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    let (tag, has_children) = (abbreviation.tag(), abbreviation.has_children());
    let (mut name, mut target, mut size) = (None, None, None);
    read(
        &mut entries,
        abbreviation,
        |attribute, value| match attribute {
            gimli::DW_AT_name => name = text(dwarf, unit, value),
            gimli::DW_AT_type => target = Origin::of(&value),
            gimli::DW_AT_byte_size => size = value.udata_value(),
            gimli::DW_AT_bit_size => {
                size = size.or(value.udata_value().map(|bits| bits.div_ceil(8)))
            }
            _ => {}
        },
    )
    .ok()?;
    let kind = kind(tag);
    let count = (kind == TypeKind::Array && has_children)
        .then(|| elements(open, entry))
        .flatten();
    Some((
        TypeFacts {
            kind,
            name,
            target: None,
            size,
            count,
        },
        target,
    ))
}

fn kind(tag: gimli::DwTag) -> TypeKind {
    match tag {
        gimli::DW_TAG_pointer_type => TypeKind::Pointer,
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => TypeKind::Reference,
        gimli::DW_TAG_array_type => TypeKind::Array,
        gimli::DW_TAG_structure_type => TypeKind::Struct,
        gimli::DW_TAG_class_type => TypeKind::Class,
        gimli::DW_TAG_union_type => TypeKind::Union,
        gimli::DW_TAG_enumeration_type => TypeKind::Enumeration,
        gimli::DW_TAG_typedef => TypeKind::Typedef,
        gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_shared_type
        | gimli::DW_TAG_atomic_type => TypeKind::Qualified,
        gimli::DW_TAG_subroutine_type => TypeKind::Function,
        gimli::DW_TAG_base_type => TypeKind::Base,
        _ => TypeKind::Other,
    }
}

/// The text of a name.
pub(super) fn text<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    value: AttributeValue<Slice<'a>>,
) -> Option<Arc<str>> {
    Some(
        dwarf
            .attr_string(unit, value)
            .ok()?
            .to_string_lossy()
            .into(),
    )
}

/// Number of elements that all ranges of an array make together.
fn elements(open: &OpenUnit<'_>, entry: usize) -> Option<u64> {
    let mut count = None;
    children(open, entry, |child| {
        if child.tag != gimli::DW_TAG_subrange_type {
            return;
        }
        let (mut upper, mut own) = (None, None);
        child.read(|attribute, value| match attribute {
            gimli::DW_AT_upper_bound => upper = value.udata_value(),
            gimli::DW_AT_count => own = value.udata_value(),
            _ => {}
        });
        let here = own
            .or(upper.and_then(|upper| upper.checked_add(1)))
            .unwrap_or(0);
        count = Some(count.unwrap_or(1u64).saturating_mul(here));
    });
    count
}

/// The fields of a type, in the order of its entry; what it is made from stands as a place.
pub(super) fn members(open: &OpenUnit<'_>, entry: usize) -> Vec<(TypeMember, Option<Origin>)> {
    let mut list = Vec::new();
    children(open, entry, |child| {
        if child.tag != gimli::DW_TAG_member || list.len() >= MEMBERS_LIMIT {
            return;
        }
        let mut member = TypeMember {
            name: None,
            offset: 0,
            bits: None,
            ty: None,
        };
        let (mut ty, mut first_bit, mut is_shared) = (None, None, false);
        child.read(|attribute, value| match attribute {
            gimli::DW_AT_name => member.name = text(&open.dwarf, &open.unit, value),
            gimli::DW_AT_type => ty = Origin::of(&value),
            gimli::DW_AT_data_member_location => member.offset = value.udata_value().unwrap_or(0),
            gimli::DW_AT_data_bit_offset => first_bit = value.udata_value(),
            gimli::DW_AT_bit_size => member.bits = value.udata_value(),
            gimli::DW_AT_external | gimli::DW_AT_declaration => is_shared = true,
            _ => {}
        });
        match first_bit {
            Some(first_bit) => member.offset = first_bit / 8,
            // Before DWARF 5 the bytes around the bits are told, and taken for the field as in perf.
            None => member.bits = None,
        }
        if !is_shared {
            list.push((member, ty));
        }
    });
    list
}

/// An entry below another.
pub(super) struct Child<'c, 'r, 'a> {
    pub(super) tag: gimli::DwTag,
    pub(super) entry: usize,
    entries: &'c mut gimli::EntriesRaw<'r, Slice<'a>>,
    abbreviation: &'c gimli::Abbreviation,
    is_read: &'c mut Option<gimli::Result<()>>,
}

impl<'a> Child<'_, '_, 'a> {
    /// Reads its attributes.
    pub(super) fn read(self, take: impl FnMut(gimli::DwAt, AttributeValue<Slice<'a>>)) {
        *self.is_read = Some(read(self.entries, self.abbreviation, take));
    }
}

/// Visits the entries that stand right below another; what is damaged ends it.
pub(super) fn children<'a>(
    open: &OpenUnit<'a>,
    entry: usize,
    mut visit: impl FnMut(Child<'_, '_, 'a>),
) -> Option<()> {
    let mut entries = open.unit.entries_raw(Some(UnitOffset(entry))).ok()?;
    let abbreviation = entries.read_abbreviation().ok()??;
    if !abbreviation.has_children() {
        return Some(());
    }
    entries.skip_attributes(abbreviation.attributes()).ok()?;
    for _ in 0..NESTED_LIMIT {
        if entries.is_empty() || entries.next_depth() <= 0 {
            break;
        }
        let (depth, entry) = (entries.next_depth(), entries.next_offset().0);
        let Some(abbreviation) = entries.read_abbreviation().ok()? else {
            continue;
        };
        let mut is_read = None;
        if depth == 1 {
            let tag = abbreviation.tag();
            visit(Child {
                tag,
                entry,
                entries: &mut entries,
                abbreviation,
                is_read: &mut is_read,
            });
        }
        match is_read {
            Some(read) => read.ok()?,
            None => entries.skip_attributes(abbreviation.attributes()).ok()?,
        }
    }
    Some(())
}
