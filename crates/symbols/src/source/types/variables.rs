//! The variables of a function and of what lies in it, and where they are held.

use gimli::{AttributeValue, Expression, Operation, UnitOffset};

use super::super::Slice;
use super::super::entry::{Budget, CodeAttributes, read};
use super::super::object::{OpenUnit, UnitId};
use super::{FrameBase, LocationEntry, Scope, Scopes, TypeReader, Variable, VariableLocation};

/// Limit of the entries of one function that are read.
const ENTRIES_LIMIT: usize = 1 << 18;
/// Limit of the places of one variable that are read.
const PLACES_LIMIT: usize = 1 << 12;

/// A variable before its type is looked for.
struct Found {
    scope: usize,
    entry: usize,
    held: Vec<LocationEntry>,
}

/// Reads a function; what is damaged ends it.
pub(super) fn scopes<'d>(
    reader: &mut TypeReader<'d>,
    unit: UnitId,
    open: &OpenUnit<'d>,
    function: usize,
) -> Scopes {
    let mut scopes = Scopes {
        list: Vec::new(),
        base: FrameBase::Unknown,
        unit,
    };
    let mut found = Vec::new();
    let _: gimli::Result<()> = walk(open, function, &mut scopes, &mut found);
    for Found { scope, entry, held } in found {
        let ty = reader.type_of_entry(unit, entry);
        if let Some(scope) = scopes.list.get_mut(scope) {
            scope.variables.push(Variable { ty, held });
        }
    }
    scopes
}

fn walk<'a>(
    open: &OpenUnit<'a>,
    function: usize,
    scopes: &mut Scopes,
    found: &mut Vec<Found>,
) -> gimli::Result<()> {
    let mut entries = open.unit.entries_raw(Some(UnitOffset(function)))?;
    let mut budget = Budget::of(&open.dwarf);
    // The scopes around the entry with the depths of their entries, and the depth of what is left out.
    let (mut around, mut foreign): (Vec<(isize, usize)>, Option<isize>) = (Vec::new(), None);
    for nth in 0..ENTRIES_LIMIT {
        if entries.is_empty() || (nth > 0 && entries.next_depth() <= 0) {
            break;
        }
        let (depth, entry) = (entries.next_depth(), entries.next_offset().0);
        let Some(abbreviation) = entries.read_abbreviation()? else {
            continue;
        };
        while around.last().is_some_and(|&(outer, _)| outer >= depth) {
            around.pop();
        }
        foreign = foreign.filter(|&outer| outer < depth);
        let tag = abbreviation.tag();
        let is_scope = matches!(
            tag,
            gimli::DW_TAG_inlined_subroutine | gimli::DW_TAG_lexical_block
        );
        let is_variable = matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
        // Entries below a variable, a type or a call are no part of the scope.
        let of_scope = around.last().is_some_and(|&(outer, _)| outer + 1 == depth);
        if foreign.is_some() || (nth > 0 && !(of_scope && (is_scope || is_variable))) {
            entries.skip_attributes(abbreviation.attributes())?;
            foreign = foreign.or(Some(depth));
            continue;
        }
        let (mut code, mut location, mut base) = (CodeAttributes::default(), None, None);
        read(&mut entries, abbreviation, |name, value| match name {
            gimli::DW_AT_location => location = Some(value),
            gimli::DW_AT_frame_base => base = value.exprloc_value(),
            _ => code.take(name, &value),
        })?;
        match (is_variable, location, around.last()) {
            (true, Some(location), Some(&(_, scope))) => {
                found.push(Found {
                    scope,
                    entry,
                    held: held(open, &location),
                });
            }
            (true, ..) => {}
            (false, ..) => {
                let mut scope = Scope {
                    depth: around.len() as u32,
                    code: Vec::new(),
                    variables: Vec::new(),
                };
                code.visit(&open.dwarf, &open.unit, &mut budget, |start, end| {
                    scope.code.push(start..end)
                });
                if let Some(base) = base.filter(|_| nth == 0) {
                    scopes.base = frame_base(open, base);
                }
                around.push((depth, scopes.list.len()));
                scopes.list.push(scope);
            }
        }
    }
    Ok(())
}

fn frame_base<'a>(open: &OpenUnit<'a>, base: Expression<Slice<'a>>) -> FrameBase {
    match base.operations(open.unit.encoding()).next() {
        Ok(Some(Operation::CallFrameCFA)) => FrameBase::CallFrame,
        Ok(Some(
            Operation::Register { register }
            | Operation::RegisterOffset {
                register,
                offset: 0,
                ..
            },
        )) => FrameBase::Register(register.0),
        _ => FrameBase::Unknown,
    }
}

/// The locations of a variable that are stated simply.
fn held<'a>(open: &OpenUnit<'a>, location: &AttributeValue<Slice<'a>>) -> Vec<LocationEntry> {
    if let Some(expression) = location.exprloc_value() {
        return place(open, expression)
            .map(|place| LocationEntry { code: None, place })
            .into_iter()
            .collect();
    }
    let mut list = Vec::new();
    let Ok(Some(mut places)) = open.dwarf.attr_locations(&open.unit, *location) else {
        return list;
    };
    for _ in 0..PLACES_LIMIT {
        let Ok(Some(entry)) = places.next() else {
            break;
        };
        let code = entry.range.begin..entry.range.end;
        list.extend(place(open, entry.data).map(|place| LocationEntry {
            code: Some(code),
            place,
        }));
    }
    list
}

/// The place that an expression means, if it is one register, one address, or a sum.
pub(super) fn place<'a>(
    open: &OpenUnit<'a>,
    expression: Expression<Slice<'a>>,
) -> Option<VariableLocation> {
    let mut operations = expression.operations(open.unit.encoding());
    let first = operations.next().ok()??;
    let mut is_value = false;
    for nth in 0.. {
        match operations.next().ok()? {
            None => break,
            Some(Operation::StackValue) => is_value = nth == 0,
            Some(Operation::Piece { .. } | Operation::Deref { .. }) => {}
            // A value that is worked out is not in one place.
            Some(_) => return None,
        }
    }
    Some(match first {
        Operation::Register { register } => VariableLocation::Register(register.0),
        Operation::RegisterOffset {
            register, offset, ..
        } if is_value => VariableLocation::Sum(register.0, offset),
        Operation::RegisterOffset {
            register, offset, ..
        } => VariableLocation::Memory(register.0, offset),
        Operation::FrameOffset { offset } if !is_value => VariableLocation::Frame(offset),
        Operation::Address { address } => VariableLocation::Address(address),
        Operation::AddressIndex { index } => {
            VariableLocation::Address(open.dwarf.address(&open.unit, index).ok()?)
        }
        _ => return None,
    })
}
