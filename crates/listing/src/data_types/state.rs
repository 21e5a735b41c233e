//! The values of registers and of the stack at a moment, as far as types tell.

use oxperf_symbols::{TypeId, TypeKind, TypeReader};

/// Number of registers that are followed: the general ones and those of vectors.
const REGISTERS: usize = 33;
/// Number of places of the stack that are followed.
const SLOTS_LIMIT: usize = 1 << 10;
/// The registers that a call may change.
const CHANGED_BY_CALLS: [u16; 9] = [0, 1, 2, 4, 5, 8, 9, 10, 11];
/// The register that holds what a function returns.
pub(super) const RETURNED: u16 = 0;
/// The stack pointer.
pub(super) const STACK: u16 = 7;

/// The value that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A value of the type, so many bytes behind where it pointed.
    Of(TypeId, i64),
    /// The address of a value of the type, so many bytes into it.
    AddressOf(TypeId, i64),
}

fn is_compound(reader: &mut TypeReader<'_>, ty: TypeId) -> bool {
    let kind = reader.kind(ty);
    matches!(
        kind,
        Some(TypeKind::Struct | TypeKind::Class | TypeKind::Union | TypeKind::Array)
    )
}

/// The values of registers and of the stack.
#[derive(Clone, Debug)]
pub(super) struct State {
    registers: [Option<Value>; REGISTERS],
    /// Places of the stack by their distance from the base, with what they hold.
    slots: Vec<(i64, TypeId)>,
}

impl State {
    /// Nothing is known.
    pub(super) fn new() -> State {
        State {
            registers: [None; REGISTERS],
            slots: Vec::new(),
        }
    }

    /// The value of a register.
    pub(super) fn register(&self, number: u16) -> Option<Value> {
        self.registers.get(usize::from(number)).copied().flatten()
    }

    /// From now on a register holds this.
    pub(super) fn set(&mut self, number: u16, value: Option<Value>) {
        if let Some(register) = self
            .registers
            .get_mut(usize::from(number))
            .filter(|_| number != STACK)
        {
            *register = value;
        }
    }

    /// A call came back.
    pub(super) fn call(&mut self, returned: Option<TypeId>) {
        CHANGED_BY_CALLS
            .iter()
            .for_each(|number| self.set(*number, None));
        self.set(RETURNED, returned.map(|ty| Value::Of(ty, 0)));
    }

    /// The value at a distance from the base, and how far into it that is.
    pub(super) fn slot(&self, reader: &mut TypeReader<'_>, at: i64) -> Option<(TypeId, u64)> {
        let exact = self.slots.iter().find(|(begin, _)| *begin == at);
        if let Some((_, ty)) = exact {
            return Some((*ty, 0));
        }
        self.slots.iter().find_map(|&(begin, ty)| {
            let into = u64::try_from(at.checked_sub(begin)?).ok()?;
            (is_compound(reader, ty) && into < reader.size(ty)?).then_some((ty, into))
        })
    }

    /// Returns whether what lies at a distance from the base has parts.
    pub(super) fn is_part(&self, reader: &mut TypeReader<'_>, at: i64) -> bool {
        self.slot(reader, at)
            .is_some_and(|(ty, _)| is_compound(reader, ty))
    }

    /// From now on this lies there.
    pub(super) fn store(&mut self, at: i64, ty: Option<TypeId>) {
        let known = self.slots.iter().position(|(begin, _)| *begin == at);
        match (known, ty) {
            (Some(known), Some(ty)) => self.slots[known].1 = ty,
            (Some(known), None) => {
                self.slots.remove(known);
            }
            (None, Some(ty)) if self.slots.len() < SLOTS_LIMIT => self.slots.push((at, ty)),
            (None, _) => {}
        }
    }
}
