//! The functions of a unit, by address.

use std::sync::OnceLock;

use super::entry::{Budget, CodeAttributes, read};
use super::inlined::Inlined;
use super::{Dwarf, GimliUnit};
use crate::spans::Spans;

/// The functions of a unit that have code.
#[derive(Debug, Default)]
pub(super) struct Functions {
    list: Vec<Function>,
    by_address: Spans<u32>,
}

/// One function.
#[derive(Debug)]
pub(super) struct Function {
    /// Offset of its entry in the unit.
    pub(super) entry: usize,
    /// The calls that were inlined in it, once somebody has asked.
    pub(super) inlined: OnceLock<Inlined>,
}

impl Functions {
    /// Walks the unit's entries; what is damaged ends the walk.
    pub(super) fn read<'a>(dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Functions {
        let (mut list, mut ranges) = (Vec::new(), Vec::new());
        let mut budget = Budget::of(dwarf);
        let Ok(mut entries) = unit.entries_raw(None) else {
            return Functions::default();
        };
        while !entries.is_empty() {
            let entry = entries.next_offset().0;
            let abbreviation = match entries.read_abbreviation() {
                Ok(Some(abbreviation)) => abbreviation,
                Ok(None) => continue,
                Err(_) => break,
            };
            if abbreviation.tag() != gimli::DW_TAG_subprogram {
                match entries.skip_attributes(abbreviation.attributes()) {
                    Ok(()) => continue,
                    Err(_) => break,
                }
            }
            let mut code = CodeAttributes::default();
            if read(&mut entries, abbreviation, |name, value| {
                code.take(name, &value)
            })
            .is_err()
            {
                break;
            }
            if code.any() {
                let index = list.len() as u32;
                code.visit(dwarf, unit, &mut budget, |start, end| {
                    ranges.push((start, end, index))
                });
                list.push(Function {
                    entry,
                    inlined: OnceLock::new(),
                });
            }
        }
        ranges.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
        Functions {
            list,
            by_address: Spans::cut(ranges.into_iter()),
        }
    }

    /// The function that holds an address.
    pub(super) fn find(&self, address: u64) -> Option<&Function> {
        self.list.get(self.by_address.find(address)? as usize)
    }
}
