//! What entries say of addresses and of the functions that they stand for.

use gimli::{AttributeValue, EntriesRaw};

use super::{Dwarf, GimliUnit, Slice};

/// Ranges of one entry that are read; more are damage.
const RANGES_LIMIT: usize = 1 << 20;

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

    /// Whether the entry has code at all.
    pub(super) fn any(&self) -> bool {
        self.low.is_some() && self.high.is_some() || self.ranges.is_some()
    }

    /// Calls `visit` with each range that holds an address.
    pub(super) fn visit(self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>, mut visit: impl FnMut(u64, u64)) {
        if let Some(ranges) = self.ranges {
            let Ok(Some(mut ranges)) = dwarf.attr_ranges(unit, ranges) else { return };
            for _ in 0..RANGES_LIMIT {
                let Ok(Some(range)) = ranges.next() else { return };
                if range.begin < range.end {
                    visit(range.begin, range.end);
                }
            }
            return;
        }
        let address = |value| dwarf.attr_address(unit, value).ok().flatten();
        let (Some(low), Some(high)) = (self.low.and_then(address), self.high) else { return };
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
