//! Values followed through the instructions that lead to a place.

use oxperf_disasm::{MemoryOperand, Operand, Operation, OperationFlow, Work};
use oxperf_symbols::{
    LocationEntry, Scope, Scopes, TypeId, TypeKind, TypeReader, VariableLocation,
};

use super::code::Code;
use super::path::{Path, path, targets};
use super::state::{STACK, State, Value};
use super::{Miss, Sought, direct, frame};
use crate::CodeNames;

/// Number of instructions that are followed for one place.
const STEPS_LIMIT: usize = 1 << 16;
/// Limit of the places of variables that are looked at on these ways together.
const LOOKS_LIMIT: usize = 1 << 24;
/// The limit for all instructions of a function.
const FUNCTION_LIMIT: usize = 1 << 30;

/// Work that may still be done for an answer.
pub(super) struct Effort {
    looks_left: usize,
}

impl Effort {
    /// The limit for one instruction.
    pub(super) fn for_instruction() -> Effort {
        Effort {
            looks_left: LOOKS_LIMIT,
        }
    }

    /// The limit for all instructions of a function together.
    pub(super) fn for_function() -> Effort {
        Effort {
            looks_left: FUNCTION_LIMIT,
        }
    }

    fn spend(&mut self, looks: usize) -> Result<(), Miss> {
        self.looks_left = self.looks_left.checked_sub(looks).ok_or(Miss::NoType)?;
        Ok(())
    }
}

/// A place in memory that an instruction names.
#[derive(Clone, Copy)]
pub(super) struct Question<'q> {
    /// Names of addresses.
    pub(super) names: &'q CodeNames<'q>,
    /// The code of the function.
    pub(super) code: &'q Code,
    /// The function's scopes.
    pub(super) scopes: &'q Scopes,
    /// The instruction's index in the code.
    pub(super) nth: usize,
    /// The place.
    pub(super) place: Sought,
}

/// The type of the data at a place, by what the instructions before the `nth` leave in its register: first from the
/// beginning of the innermost scope, then from those of the scopes around it.
pub(super) fn search(
    reader: &mut TypeReader<'_>,
    question: &Question<'_>,
    effort: &mut Effort,
) -> Result<(TypeId, u64), Miss> {
    let Question {
        names,
        code,
        scopes,
        nth,
        place,
    } = *question;
    // To find the ways takes a look at all of the code.
    effort.spend(code.list.len())?;
    let targets = targets(code);
    let around = scopes.around(code.list[nth].address);
    let mut follower = Follower {
        reader,
        names,
        code,
        scopes,
        variables: Vec::new(),
        effort,
    };
    let mut miss = Miss::NoType;
    // The ways from the beginnings of the scopes so far, the innermost first.
    let mut ways: Vec<(usize, Path)> = vec![(nth, vec![nth..=nth])];
    for scope in around.into_iter().rev() {
        let begin = scope
            .code
            .first()
            .and_then(|code_of| code.at(code_of.start));
        let joined = begin.and_then(|begin| {
            let mut known = ways.iter().rev().take(2);
            known
                .find_map(|(to, rest)| Some((begin, join(path(code, &targets, begin, *to)?, rest))))
        });
        let Some((begin, way)) = joined else { continue };
        follower.variables.push(scope);
        match follower.run(&way, place) {
            Ok(found) => return Ok(found),
            Err(why) => miss = why,
        }
        ways.push((begin, way));
    }
    Err(miss)
}

/// A way and what comes behind its last instruction, which is where the rest begins.
fn join(mut way: Path, rest: &[std::ops::RangeInclusive<usize>]) -> Path {
    match (way.pop(), rest.split_first()) {
        (Some(last), Some((first, others))) if last.end() == first.start() => {
            way.push(*last.start()..=*first.end());
            way.extend_from_slice(others);
        }
        (last, _) => {
            way.extend(last);
            way.extend_from_slice(rest);
        }
    }
    way
}

struct Follower<'f, 'd> {
    reader: &'f mut TypeReader<'d>,
    names: &'f CodeNames<'f>,
    code: &'f Code,
    scopes: &'f Scopes,
    /// The scopes whose variables count, the innermost first.
    variables: Vec<&'f Scope>,
    effort: &'f mut Effort,
}

impl Follower<'_, '_> {
    /// Goes a way, and looks at its end what is held at the place.
    fn run(&mut self, way: &Path, place: Sought) -> Result<(TypeId, u64), Miss> {
        let mut state = State::new();
        let variables = self.variables.iter().flat_map(|scope| &scope.variables);
        let looks: usize = variables.map(|variable| variable.held.len() + 1).sum();
        let mut steps = way.iter().cloned().flatten().take(STEPS_LIMIT).peekable();
        while let Some(nth) = steps.next() {
            let coded = &self.code.list[nth];
            self.effort.spend(looks)?;
            let base = frame(self.reader, self.scopes, coded.address);
            self.take_variables(&mut state, coded.address, base);
            let is_last = steps.peek().is_none();
            if is_last {
                match self.found(&state, base, place) {
                    // It may be the instruction itself that tells what it stores there.
                    Err(Miss::NoType) if slot_of(base, place).is_some() => {}
                    found => return found,
                }
            }
            if let Some(step) = &coded.step {
                self.step(&mut state, step, base, coded.address);
            }
            if is_last {
                return self.found(&state, base, place);
            }
        }
        Err(Miss::NoType)
    }

    /// The data at a place.
    fn found(
        &mut self,
        state: &State,
        base: Option<(u16, i64)>,
        place: Sought,
    ) -> Result<(TypeId, u64), Miss> {
        if let Some(slot) = slot_of(base, place) {
            let (ty, into) = state.slot(self.reader, slot).ok_or(Miss::NoType)?;
            return Ok((self.reader.plain(ty).ok_or(Miss::NoType)?, into));
        }
        let (ty, into) = match state.register(place.register).ok_or(Miss::NoType)? {
            Value::Of(ty, behind) => {
                let pointee = self.reader.pointee(ty).ok_or(Miss::NoPointer)?;
                (pointee, place.offset.checked_add(behind))
            }
            Value::AddressOf(ty, into) => (ty, place.offset.checked_add(into)),
        };
        let into = into
            .and_then(|into| u64::try_from(into).ok())
            .ok_or(Miss::Outside)?;
        let fits = self.reader.size(ty).is_some_and(|size| into < size);
        fits.then_some((ty, into)).ok_or(Miss::Outside)
    }

    /// Takes over what debug information says is held at an address.
    fn take_variables(&mut self, state: &mut State, address: u64, base: Option<(u16, i64)>) {
        for nth in 0..self.variables.len() {
            let scope = self.variables[nth];
            for variable in &scope.variables {
                let Some(ty) = variable.ty else { continue };
                let begins = |held: &LocationEntry| match &held.code {
                    Some(code) => code.start == address,
                    None => scope.code.first().is_some_and(|code| code.start == address),
                };
                let holds = |held: &LocationEntry| {
                    held.code
                        .as_ref()
                        .is_some_and(|code| code.contains(&address))
                };
                let held = variable
                    .held
                    .iter()
                    .find(|held| begins(held) || holds(held));
                let Some(held) = held else { continue };
                // Without a base, places of the frame and of the stack do not compare.
                let is_comparable =
                    base.is_some() || !matches!(held.place, VariableLocation::Frame(_));
                if is_comparable {
                    self.take(state, ty, held.place, begins(held));
                }
            }
        }
    }

    fn take(&mut self, state: &mut State, ty: TypeId, place: VariableLocation, begins: bool) {
        match place {
            VariableLocation::Register(number) => {
                let is_news = match state.register(number) {
                    Some(Value::Of(known, _)) => {
                        begins || direct::is_better(self.reader, known, ty)
                    }
                    Some(Value::AddressOf(..)) => begins,
                    None => true,
                };
                if is_news {
                    state.set(number, Some(Value::Of(ty, 0)));
                }
            }
            VariableLocation::Sum(number, sum) if state.register(number).is_none() => {
                state.set(
                    number,
                    sum.checked_neg().map(|behind| Value::Of(ty, behind)),
                );
            }
            VariableLocation::Memory(STACK, at) => state.store(at, Some(ty)),
            VariableLocation::Frame(at) => state.store(at, Some(ty)),
            _ => {}
        }
    }

    /// The change that an instruction makes.
    fn step(
        &mut self,
        state: &mut State,
        step: &Operation,
        base: Option<(u16, i64)>,
        address: u64,
    ) {
        if let OperationFlow::Call(target) = step.flow {
            let returned = target.and_then(|target| self.returned(target));
            return state.call(returned);
        }
        let last = step.operands.last().copied();
        let value = match (step.work, step.operands.first().copied(), last) {
            (Work::Compare, ..) => return,
            (Work::Move, Some(source), Some(_)) => self.value(state, source, base, address),
            (Work::Address, Some(Operand::Memory(memory)), _) => {
                self.address_of(state, &memory, base, address)
            }
            (Work::Add, Some(Operand::Number(by)), Some(Operand::Register(Some(number)))) => {
                state.register(number).and_then(|value| moved(value, by))
            }
            // What a pointer leads to stays the same where an index is added.
            (Work::Add, _, Some(Operand::Register(Some(number)))) => state.register(number),
            (Work::Subtract, Some(Operand::Number(by)), Some(Operand::Register(Some(number)))) => {
                state
                    .register(number)
                    .and_then(|value| moved(value, by.checked_neg()?))
            }
            _ => None,
        };
        step.changed
            .iter()
            .for_each(|number| state.set(*number, None));
        match last {
            Some(Operand::Register(Some(number))) if step.work != Work::Other => {
                state.set(number, value)
            }
            Some(Operand::Memory(memory)) if step.work == Work::Move => {
                let slot = Sought::of(&memory).and_then(|place| slot_of(base, place));
                // What is stored into a part of a variable changes no type, nor does what has none.
                let slot = slot.filter(|slot| !state.is_part(self.reader, *slot));
                if let Some((slot, value)) = slot.zip(value) {
                    let ty = match value {
                        Value::Of(ty, 0) => Some(ty),
                        _ => None,
                    };
                    state.store(slot, ty);
                }
            }
            _ => {}
        }
    }

    fn returned(&mut self, target: u64) -> Option<TypeId> {
        let (name, 0) = self.names.linker_name(target)? else {
            return None;
        };
        let returned = self.reader.returned(self.scopes.unit, &name)?;
        // The address of anything, as `malloc` returns it, tells nothing.
        let is_pointer = self.reader.kind(returned) == Some(TypeKind::Pointer);
        (!is_pointer || self.reader.pointee(returned).is_some()).then_some(returned)
    }

    /// The value of an operand.
    fn value(
        &mut self,
        state: &State,
        operand: Operand,
        base: Option<(u16, i64)>,
        address: u64,
    ) -> Option<Value> {
        let memory = match operand {
            Operand::Register(number) => return state.register(number?),
            Operand::Memory(memory) => memory,
            Operand::Number(_) | Operand::Code => return None,
        };
        let (ty, into) = match memory.absolute {
            Some(absolute) => {
                let unit = self.reader.unit_of(address)?;
                direct::global(self.reader, self.names, unit, absolute)?
            }
            None => self.found(state, base, Sought::of(&memory)?).ok()?,
        };
        self.reader.at(ty, into).map(|ty| Value::Of(ty, 0))
    }

    /// The address of a place, as a value.
    fn address_of(
        &mut self,
        state: &State,
        memory: &MemoryOperand,
        base: Option<(u16, i64)>,
        address: u64,
    ) -> Option<Value> {
        if let Some(absolute) = memory.absolute {
            let unit = self.reader.unit_of(address)?;
            let (ty, into) = direct::global(self.reader, self.names, unit, absolute)?;
            return Some(Value::AddressOf(ty, into.cast_signed()));
        }
        let place =
            Sought::of(memory).filter(|_| memory.base.is_none() || memory.index.is_none())?;
        if let Some(slot) = slot_of(base, place) {
            let (ty, into) = state.slot(self.reader, slot)?;
            return Some(Value::AddressOf(ty, into.cast_signed()));
        }
        let value = state.register(place.register)?;
        let leads = match value {
            Value::Of(ty, _) => {
                matches!(
                    self.reader.kind(ty),
                    Some(TypeKind::Pointer | TypeKind::Reference | TypeKind::Array)
                )
            }
            Value::AddressOf(..) => true,
        };
        leads.then(|| moved(value, place.offset)).flatten()
    }
}

fn moved(value: Value, by: i64) -> Option<Value> {
    Some(match value {
        Value::Of(ty, behind) => Value::Of(ty, behind.checked_add(by)?),
        Value::AddressOf(ty, into) => Value::AddressOf(ty, into.checked_add(by)?),
    })
}

/// The place of the stack that is meant, counted from the base.
fn slot_of(base: Option<(u16, i64)>, place: Sought) -> Option<i64> {
    match base {
        Some((register, distance)) if register == place.register => {
            place.offset.checked_sub(distance)
        }
        None if place.register == STACK => Some(place.offset),
        _ => None,
    }
}
