//! Variables that are held where an instruction looks.

use oxperf_symbols::{
    LocationEntry, Scopes, TypeId, TypeKind, TypeReader, UnitId, Variable, VariableLocation,
};

use super::{Sought, frame};
use crate::CodeNames;

/// The variable of the whole program at an address, and how far into it the address is.
pub(super) fn global(
    reader: &mut TypeReader<'_>,
    names: &CodeNames<'_>,
    unit: UnitId,
    address: u64,
) -> Option<(TypeId, u64)> {
    let symbol = names.linker_name(address);
    let symbol = symbol.as_ref().map(|(name, into)| (&**name, *into));
    reader
        .global(unit, address, symbol)
        .or_else(|| reader.global_anywhere(address))
}

/// The type of the data at a place that a register leads to, by the variables of the scopes around an address.
pub(super) fn held(
    reader: &mut TypeReader<'_>,
    scopes: &Scopes,
    address: u64,
    place: Sought,
) -> Option<(TypeId, u64)> {
    let base = frame(reader, scopes, address);
    let mut best: Option<(TypeId, u64)> = None;
    // What references lead to counts where nothing else is found.
    let mut referred: Option<(TypeId, u64)> = None;
    for scope in scopes.around(address).into_iter().rev() {
        let held = scope
            .variables
            .iter()
            .filter_map(|variable| Some((variable, held_at(variable, address)?)));
        let Some(found) = held.into_iter().find_map(|(variable, held)| {
            let found = of_variable(reader, variable.ty?, held.place, place, base)?;
            // What lies there ends the search in this scope, known or not.
            Some((
                found.known(reader),
                reader.kind(variable.ty?) == Some(TypeKind::Reference),
            ))
        }) else {
            continue;
        };
        let (found, is_reference) = found;
        if is_reference {
            referred = referred.or(found);
            continue;
        }
        best = match (best, found) {
            (Some(best), Some(found)) if !is_preferred(reader, best, found) => Some(best),
            (best, found) => found.or(best),
        };
    }
    best.or(referred)
}

/// A variable that is held at a place, before its type is known to be one.
struct Candidate {
    ty: TypeId,
    /// True if what is at the place is what the variable points to.
    through: bool,
    offset: u64,
}

impl Candidate {
    fn known(self, reader: &mut TypeReader<'_>) -> Option<(TypeId, u64)> {
        let ty = match self.through {
            true => reader.pointee(self.ty)?,
            false => reader.plain(self.ty)?,
        };
        let fits = self.offset == 0 || reader.size(ty).is_some_and(|size| self.offset < size);
        fits.then_some((ty, self.offset))
    }
}

/// The location of a variable while the code at an address runs.
fn held_at(variable: &Variable, address: u64) -> Option<&LocationEntry> {
    variable.held.iter().find(|held| {
        held.code
            .as_ref()
            .is_none_or(|code| code.contains(&address))
    })
}

/// The variable as what is at the place that is sought, if it may be.
fn of_variable(
    reader: &mut TypeReader<'_>,
    ty: TypeId,
    held: VariableLocation,
    Sought { register, offset }: Sought,
    base: Option<(u16, i64)>,
) -> Option<Candidate> {
    let leads = matches!(
        reader.kind(ty),
        Some(TypeKind::Pointer | TypeKind::Reference | TypeKind::Array)
    );
    let (through, into) = match held {
        VariableLocation::Register(number) if number == register => (leads, offset),
        VariableLocation::Sum(number, sum) if number == register => {
            (leads, offset.checked_sub(sum)?)
        }
        VariableLocation::Memory(number, from) if number == register => {
            (false, offset.checked_sub(from)?)
        }
        VariableLocation::Frame(from) => {
            let (number, distance) = base?;
            let into = offset.checked_sub(distance)?.checked_sub(from)?;
            (false, Some(into).filter(|_| number == register)?)
        }
        _ => return None,
    };
    let offset = u64::try_from(into).ok()?;
    let whole = if through {
        reader.pointee(ty)
    } else {
        Some(ty)
    };
    let fits = offset == 0
        || whole
            .and_then(|whole| reader.size(whole))
            .is_some_and(|size| offset < size);
    fits.then_some(Candidate {
        ty,
        through,
        offset,
    })
}

/// Returns whether what an outer scope has is to be preferred: what lies further in a larger type, and otherwise the
/// outer one unless the inner is better.
fn is_preferred(reader: &mut TypeReader<'_>, best: (TypeId, u64), found: (TypeId, u64)) -> bool {
    found.1 > best.1 || found.1 == best.1 && !is_better(reader, found.0, best.0)
}

/// Returns whether a type tells more than another: pointers more than others, and then the larger.
pub(super) fn is_better(reader: &mut TypeReader<'_>, than: TypeId, ty: TypeId) -> bool {
    let leads = |reader: &mut TypeReader<'_>, ty| {
        let plain = reader.plain(ty);
        let kind = plain.and_then(|plain| Some(reader.facts(plain)?.kind));
        matches!(kind, Some(TypeKind::Pointer | TypeKind::Array))
    };
    let pointers = (leads(reader, than), leads(reader, ty));
    let [than, ty] = match pointers {
        (false, true) => return true,
        (true, false) => return false,
        (true, true) => {
            let Some(ty) = reader.pointee(ty) else {
                return false;
            };
            let Some(than) = reader.pointee(than) else {
                return true;
            };
            [than, ty]
        }
        (false, false) => [than, ty],
    };
    match (reader.size(than), reader.size(ty)) {
        (Some(than), Some(ty)) => than < ty,
        _ => false,
    }
}
