//! Attributes of entries about addresses, and about the functions that they stand for.

use gimli::{AttributeValue, EntriesRaw, Section};

use super::{Dwarf, GimliUnit, Slice};

/// Number of ranges, or rows of line tables, that may still be read in one walk.
///
/// A damaged file may name the same long list again and again; what is not shared takes bytes of its own, so an honest
/// file never comes to the end of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(usize);

impl Budget {
    /// As much as the bytes of the sections can mean.
    pub(super) fn of(dwarf: &Dwarf<'_>) -> Budget {
        let (info, lines) = (dwarf.debug_info.reader(), dwarf.debug_line.reader());
        let lists = [
            dwarf.ranges.debug_ranges().reader(),
            dwarf.ranges.debug_rnglists().reader(),
        ];
        Budget(info.len() + lines.len() + lists.iter().map(|list| list.len()).sum::<usize>())
    }

    /// Takes a part of it; whether there was that much left.
    pub(super) fn spend(&mut self, count: usize) -> bool {
        let left = self.0.checked_sub(count);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The attributes of an entry that tell where its code is.
#[derive(Default)]
pub(super) struct CodeAttributes<'a> {
    low: Option<AttributeValue<Slice<'a>>>,
    high: Option<AttributeValue<Slice<'a>>>,
    ranges: Option<AttributeValue<Slice<'a>>>,
}

impl<'a> CodeAttributes<'a> {
    /// Takes an attribute if it is one of these.
    pub(super) fn take(&mut self, name: gimli::DwAt, value: &AttributeValue<Slice<'a>>) {
        match name {
            gimli::DW_AT_low_pc => self.low = Some(*value),
            gimli::DW_AT_high_pc => self.high = Some(*value),
            gimli::DW_AT_ranges => self.ranges = Some(*value),
            _ => {}
        }
    }

    /// The first address, which others may count from.
    pub(super) fn low(&self) -> Option<AttributeValue<Slice<'a>>> {
        self.low
    }

    /// Returns whether the entry has code at all.
    pub(super) fn any(&self) -> bool {
        self.low.is_some() && self.high.is_some() || self.ranges.is_some()
    }

    /// Calls `visit` with each range that holds an address.
    pub(super) fn visit(
        self,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        budget: &mut Budget,
        mut visit: impl FnMut(u64, u64),
    ) {
        if let Some(ranges) = self.ranges {
            let Ok(Some(mut ranges)) = dwarf.attr_ranges(unit, ranges) else {
                return;
            };
            while budget.spend(1) {
                let Ok(Some(range)) = ranges.next() else {
                    return;
                };
                if range.begin < range.end {
                    visit(range.begin, range.end);
                }
            }
            return;
        }
        let address = |value| dwarf.attr_address(unit, value).ok().flatten();
        let (Some(low), Some(high)) = (self.low.and_then(address), self.high) else {
            return;
        };
        let end = match high {
            AttributeValue::Udata(size) => low.checked_add(size),
            value => address(value),
        };
        if let Some(end) = end.filter(|&end| end > low) {
            visit(low, end);
        }
    }
}

/// Reads the attributes of the entry that `entries` stands at.
pub(super) fn read<'a>(
    entries: &mut EntriesRaw<'_, Slice<'a>>,
    abbreviation: &gimli::Abbreviation,
    mut take: impl FnMut(gimli::DwAt, AttributeValue<Slice<'a>>),
) -> gimli::Result<()> {
    for specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(*specification)?;
        take(attribute.name(), attribute.value());
    }
    Ok(())
}
