//! Reads types of one object.

use std::collections::HashMap;
use std::rc::Rc;

use gimli::UnitOffset;

use super::super::entry::read;
use super::super::info::DebugInfo;
use super::super::names::Origin;
use super::super::object::{Object, OpenUnit, UnitId};
use super::frame::Frames;
use super::globals::Globals;
use super::{Scopes, TypeFacts, TypeId, TypeKind, TypeMember, facts, variables};

/// Number of types that may be wrapped in each other.
const STEPS_LIMIT: usize = 64;

/// Reads the types and variables of one object, each when it is first asked for. Addresses are virtual ones of its file.
#[derive(Debug)]
pub struct TypeReader<'d> {
    pub(super) object: &'d Object,
    units: HashMap<UnitId, Option<Rc<OpenUnit<'d>>>>,
    facts: HashMap<TypeId, Option<TypeFacts>>,
    members: HashMap<TypeId, Rc<[TypeMember]>>,
    scopes: HashMap<(UnitId, usize), Rc<Scopes>>,
    pub(super) globals: Globals,
    frames: Option<Frames<'d>>,
}

impl<'d> TypeReader<'d> {
    /// Reads what an object's debug information says; `None` where it has none.
    pub fn new(info: &'d DebugInfo) -> Option<TypeReader<'d>> {
        let object = info.entries()?;
        Some(TypeReader {
            object,
            units: HashMap::new(),
            facts: HashMap::new(),
            members: HashMap::new(),
            scopes: HashMap::new(),
            globals: Globals::default(),
            frames: None,
        })
    }

    /// The function that holds an address, with its variables.
    pub fn scopes(&mut self, address: u64) -> Option<Rc<Scopes>> {
        let unit = self.object.unit_of(address)?;
        let function = self.object.function_entry(address)?;
        if let Some(known) = self.scopes.get(&(unit, function)) {
            return Some(Rc::clone(known));
        }
        let open = self.open(unit)?;
        let found = Rc::new(variables::scopes(self, unit, &open, function));
        self.scopes.insert((unit, function), Rc::clone(&found));
        Some(found)
    }

    /// The unit that covers an address.
    pub fn unit_of(&self, address: u64) -> Option<UnitId> {
        self.object.unit_of(address)
    }

    /// The stack pointer before the call, while the code at an address runs, as a register and what is to be added; by
    /// the tables that only debuggers read.
    pub fn call_frame(&mut self, address: u64) -> Option<(u16, i64)> {
        let object = self.object;
        self.frames
            .get_or_insert_with(|| Frames::read(object.contents()))
            .call_frame(address)
    }

    pub(super) fn open(&mut self, unit: UnitId) -> Option<Rc<OpenUnit<'d>>> {
        let object = self.object;
        self.units
            .entry(unit)
            .or_insert_with(|| object.open_unit(unit).map(Rc::new))
            .clone()
    }

    /// The place that an entry of `unit` names.
    pub(super) fn place(&self, unit: UnitId, origin: Origin) -> Option<TypeId> {
        let (unit, entry) = self.object.entry_at(unit, origin)?;
        Some(TypeId { unit, entry })
    }

    /// The facts of a type's entry.
    pub fn facts(&mut self, ty: TypeId) -> Option<TypeFacts> {
        if let Some(known) = self.facts.get(&ty) {
            return known.clone();
        }
        let open = self.open(ty.unit);
        let found = open
            .and_then(|open| facts::facts(&open, ty.entry))
            .map(|(facts, target)| {
                let target = target.and_then(|target| self.place(ty.unit, target));
                TypeFacts { target, ..facts }
            });
        self.facts.insert(ty, found.clone());
        found
    }

    /// The type without qualifiers.
    pub fn plain(&mut self, ty: TypeId) -> Option<TypeId> {
        self.peel(ty, |kind| kind == TypeKind::Qualified)
    }

    /// The type without qualifiers and further names.
    pub fn real(&mut self, ty: TypeId) -> Option<TypeId> {
        self.peel(ty, |kind| {
            matches!(kind, TypeKind::Qualified | TypeKind::Typedef)
        })
    }

    fn peel(&mut self, ty: TypeId, is_skin: impl Fn(TypeKind) -> bool) -> Option<TypeId> {
        let mut next = ty;
        for _ in 0..STEPS_LIMIT {
            let facts = self.facts(next)?;
            if !is_skin(facts.kind) {
                return Some(next);
            }
            next = facts.target?;
        }
        None
    }

    /// The kind of the type behind its qualifiers and names.
    pub fn kind(&mut self, ty: TypeId) -> Option<TypeKind> {
        let real = self.real(ty)?;
        Some(self.facts(real)?.kind)
    }

    /// The type that a pointer, a reference or an array leads to, without qualifiers.
    pub fn pointee(&mut self, ty: TypeId) -> Option<TypeId> {
        let real = self.real(ty)?;
        let facts = self.facts(real)?;
        match facts.kind {
            TypeKind::Pointer | TypeKind::Reference | TypeKind::Array => self.plain(facts.target?),
            _ => None,
        }
    }

    /// Number of bytes that a value of the type takes; `None` where that is not told.
    pub fn size(&mut self, ty: TypeId) -> Option<u64> {
        let (mut next, mut times) = (ty, 1u64);
        for _ in 0..STEPS_LIMIT {
            let real = self.real(next)?;
            let facts = self.facts(real)?;
            let own = match facts.kind {
                _ if facts.size.is_some() => facts.size,
                TypeKind::Pointer | TypeKind::Reference => Some(8),
                TypeKind::Array => {
                    times = times.checked_mul(facts.count?)?;
                    next = facts.target?;
                    continue;
                }
                _ => None,
            };
            return own?.checked_mul(times);
        }
        None
    }

    /// The fields of a type, in the order of its entry.
    pub fn members(&mut self, ty: TypeId) -> Rc<[TypeMember]> {
        if let Some(known) = self.members.get(&ty) {
            return Rc::clone(known);
        }
        let found = self
            .open(ty.unit)
            .map(|open| facts::members(&open, ty.entry))
            .unwrap_or_default();
        let placed = found.into_iter().map(|(member, of)| TypeMember {
            ty: of.and_then(|of| self.place(ty.unit, of)),
            ..member
        });
        let found: Rc<[TypeMember]> = placed.collect();
        self.members.insert(ty, Rc::clone(&found));
        found
    }

    /// The innermost field at so many bytes from the beginning of a type, without qualifiers; the type itself where it has
    /// no fields. Of unions the first field that reaches so far.
    pub fn at(&mut self, ty: TypeId, offset: u64) -> Option<TypeId> {
        let (mut next, mut left) = (ty, offset);
        for _ in 0..STEPS_LIMIT {
            let real = self.real(next)?;
            match self.facts(real)?.kind {
                TypeKind::Struct | TypeKind::Class | TypeKind::Union => {
                    let members = self.members(real);
                    let (inner, begins) = members.iter().find_map(|member| {
                        let inner = member.ty?;
                        let within = left.checked_sub(member.offset)?;
                        (within < self.size(inner)?).then_some((inner, member.offset))
                    })?;
                    (next, left) = (inner, left - begins);
                }
                TypeKind::Array => {
                    let element = self.pointee(real)?;
                    let size = self.size(element).filter(|size| *size > 0)?;
                    (next, left) = (element, left % size);
                }
                _ => return self.plain(next),
            }
        }
        None
    }

    /// The type that the unit's function of that name returns, without qualifiers.
    pub fn returned(&mut self, unit: UnitId, function: &str) -> Option<TypeId> {
        let origin = self.top_entries(unit).functions.get(function).copied()?;
        let ty = self.place(unit, origin)?;
        self.plain(ty)
    }

    /// The entries right below the first entry of a unit.
    fn top_entries(&mut self, unit: UnitId) -> Rc<super::globals::Top> {
        if let Some(known) = self.globals.of_unit(unit) {
            return known;
        }
        let found = self
            .open(unit)
            .map(|open| super::globals::read_top(self, unit, &open));
        self.globals.keep(unit, found.unwrap_or_default())
    }

    /// The variable of the whole program at an address as the unit knows it, and how far into it the address is; of the
    /// name `symbol` otherwise, which begins so far before.
    pub fn global(
        &mut self,
        unit: UnitId,
        address: u64,
        symbol: Option<(&str, u64)>,
    ) -> Option<(TypeId, u64)> {
        let here = self.top_entries(unit);
        if let Some(found) = self.variable_at(&here, address) {
            return Some(found);
        }
        let (name, into) = symbol?;
        let ty = here.variables.get(name).copied()?;
        (into < self.size(ty)?).then_some((ty, into))
    }

    /// The variable at an address in any unit.
    pub fn global_anywhere(&mut self, address: u64) -> Option<(TypeId, u64)> {
        for unit in self.object.unit_ids() {
            let top = self.top_entries(unit);
            if let Some(found) = self.variable_at(&top, address) {
                return Some(found);
            }
        }
        None
    }

    fn variable_at(&mut self, top: &super::globals::Top, address: u64) -> Option<(TypeId, u64)> {
        let behind = top
            .addresses
            .partition_point(|(start, _)| *start <= address);
        let &(start, ty) = top.addresses.get(behind.checked_sub(1)?)?;
        let into = address - start;
        (into == 0 || into < self.size(ty)?).then_some((ty, into))
    }

    /// The type of an entry that may only refer to the one that has it.
    pub(super) fn type_of_entry(&mut self, unit: UnitId, entry: usize) -> Option<TypeId> {
        let (mut unit, mut entry) = (unit, entry);
        for _ in 0..super::super::names::REFERENCES_LIMIT {
            let open = self.open(unit)?;
            let mut entries = open.unit.entries_raw(Some(UnitOffset(entry))).ok()?;
            let abbreviation = entries.read_abbreviation().ok()??;
            let (mut ty, mut origin) = (None, None);
            read(&mut entries, abbreviation, |name, value| match name {
                gimli::DW_AT_type => ty = Origin::of(&value),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                    origin = Origin::of(&value)
                }
                _ => {}
            })
            .ok()?;
            if let Some(ty) = ty {
                return self.place(unit, ty);
            }
            (unit, entry) = self.object.entry_at(unit, origin?)?;
        }
        None
    }
}
