//! Variables of whole programs, and what functions return: what stands right below the first entries of units.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::names::Origin;
use super::super::object::{OpenUnit, UnitId};
use super::facts::{children, text};
use super::{TypeId, TypeReader, VariableLocation, variables};

/// The global entries of units.
#[derive(Debug, Default)]
pub(super) struct Globals {
    units: HashMap<UnitId, Rc<Top>>,
}

/// The entries right below the first entry of a unit.
#[derive(Debug, Default)]
pub(super) struct Top {
    /// Variables by address, ascending.
    pub(super) addresses: Vec<(u64, TypeId)>,
    /// Variables by name.
    pub(super) variables: HashMap<Box<str>, TypeId>,
    /// Types that functions return.
    pub(super) functions: HashMap<Box<str>, Origin>,
}

impl Globals {
    pub(super) fn of_unit(&self, unit: UnitId) -> Option<Rc<Top>> {
        self.units.get(&unit).cloned()
    }

    pub(super) fn keep(&mut self, unit: UnitId, top: Top) -> Rc<Top> {
        Rc::clone(self.units.entry(unit).or_insert(Rc::new(top)))
    }
}

/// A variable as its entry tells it.
struct Told {
    entry: usize,
    name: Option<Box<str>>,
    address: Option<u64>,
}

/// Reads the variables and functions of a unit.
pub(super) fn read_top<'d>(reader: &mut TypeReader<'d>, unit: UnitId, open: &OpenUnit<'d>) -> Top {
    let mut top = Top::default();
    let mut told = Vec::new();
    children(open, open.first_entry(), |child| {
        let (tag, entry) = (child.tag, child.entry);
        if !matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_subprogram) {
            return;
        }
        let (mut name, mut ty, mut address) = (None, None, None);
        child.read(|attribute, value| match attribute {
            gimli::DW_AT_name => {
                name = text(&open.dwarf, &open.unit, value).map(|name| Box::from(&*name))
            }
            gimli::DW_AT_type => ty = Origin::of(&value),
            gimli::DW_AT_location => address = fixed(open, &value),
            _ => {}
        });
        match (tag, name, ty) {
            (gimli::DW_TAG_subprogram, Some(name), Some(ty)) => {
                top.functions.entry(name).or_insert(ty);
            }
            (gimli::DW_TAG_variable, name, _) => told.push(Told {
                entry,
                name,
                address,
            }),
            _ => {}
        }
    });
    for Told {
        entry,
        name,
        address,
    } in told
    {
        let ty = reader
            .type_of_entry(unit, entry)
            .and_then(|ty| reader.real(ty));
        let Some(ty) = ty else { continue };
        top.addresses.extend(address.map(|address| (address, ty)));
        if let Some(name) = name {
            top.variables.entry(name).or_insert(ty);
        }
    }
    top.addresses.sort_by_key(|(address, _)| *address);
    top
}

/// The address of a variable that is always at the same.
fn fixed<'a>(
    open: &OpenUnit<'a>,
    value: &gimli::AttributeValue<super::super::Slice<'a>>,
) -> Option<u64> {
    match variables::place(open, value.exprloc_value()?)? {
        VariableLocation::Address(address) => Some(address),
        _ => None,
    }
}
