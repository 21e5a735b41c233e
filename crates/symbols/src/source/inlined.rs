//! The calls that the compiler inlined in one function.

use gimli::{AttributeValue, UnitOffset};

use super::entry::{Budget, CodeAttributes, read};
use super::names::Origin;
use super::{Dwarf, GimliUnit, Slice};

/// Limit of the depth to which calls may be inlined in each other.
const DEPTH_LIMIT: usize = 4096;

/// All inlined calls of a function.
#[derive(Debug, Default)]
pub(super) struct Inlined {
    calls: Vec<Call>,
    /// The code of calls as (depth, start, end, call), in this order.
    ranges: Vec<(u32, u64, u64, u32)>,
}

/// One inlined call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The function that was called.
    pub(super) origin: Option<Origin>,
    /// The file of the call, by its number in the unit's line table.
    pub(super) file: u64,
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Inlined {
    /// Reads what stands below the entry of a function; what is damaged ends it.
    pub(super) fn read<'a>(dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>, function: usize) -> Inlined {
        let mut inlined = Inlined::default();
        let _: gimli::Result<()> = inlined.walk(dwarf, unit, UnitOffset(function));
        inlined.ranges.sort_unstable();
        inlined
    }

    fn walk<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        function: UnitOffset,
    ) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(Some(function))?;
        let Some(abbreviation) = entries.read_abbreviation()? else {
            return Ok(());
        };
        entries.skip_attributes(abbreviation.attributes())?;
        let mut budget = Budget::of(dwarf);
        // Depths of the calls around the entry, and of a function within the function, whose calls are its own.
        let (mut around, mut foreign): (Vec<isize>, Option<isize>) = (Vec::new(), None);
        while !entries.is_empty() && entries.next_depth() > 0 {
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else {
                continue;
            };
            while around.last().is_some_and(|&outer| outer >= depth) {
                around.pop();
            }
            foreign = foreign.filter(|&outer| outer < depth);
            if abbreviation.tag() == gimli::DW_TAG_subprogram {
                foreign = foreign.or(Some(depth));
            }
            if abbreviation.tag() != gimli::DW_TAG_inlined_subroutine || foreign.is_some() {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let (mut call, mut code) = (Call::UNKNOWN, CodeAttributes::default());
            read(&mut entries, abbreviation, |name, value| {
                code.take(name, &value);
                call.take(name, &value);
            })?;
            if code.any() && around.len() < DEPTH_LIMIT {
                let (index, inside) = (self.calls.len() as u32, around.len() as u32);
                self.calls.push(call);
                code.visit(dwarf, unit, &mut budget, |start, end| {
                    self.ranges.push((inside, start, end, index))
                });
                around.push(depth);
            }
        }
        Ok(())
    }

    /// The calls that an address lies in, the outermost first.
    pub(super) fn at(&self, address: u64) -> impl Iterator<Item = &Call> {
        (0..).map_while(move |depth| {
            let after = self
                .ranges
                .partition_point(|&(other, start, ..)| (other, start) <= (depth, address));
            let &(found, _, end, call) = self.ranges.get(after.checked_sub(1)?)?;
            (found == depth && address < end).then(|| self.calls.get(call as usize))?
        })
    }
}

impl Call {
    const UNKNOWN: Call = Call {
        origin: None,
        file: 0,
        line: 0,
        column: 0,
    };

    fn take(&mut self, name: gimli::DwAt, value: &AttributeValue<Slice<'_>>) {
        let number = || {
            value
                .udata_value()
                .and_then(|value| u32::try_from(value).ok())
                .unwrap_or(0)
        };
        match name {
            gimli::DW_AT_abstract_origin => self.origin = Origin::of(value),
            gimli::DW_AT_call_line => self.line = number(),
            gimli::DW_AT_call_column => self.column = number(),
            gimli::DW_AT_call_file => {
                self.file = match value {
                    AttributeValue::FileIndex(index) => *index,
                    other => other.udata_value().unwrap_or(0),
                }
            }
            _ => {}
        }
    }
}
