//! Types of data: what variables are, where they are held while code runs, and what types are made of.
//!
//! A [`TypeReader`] answers for one object. Nothing is read ahead: a function's variables are read when code in it is asked
//! about, a type's entry when somebody comes upon it, both once. Types are known by where their entries stand, so cycles
//! among them cost nothing; whoever follows them does so for a bounded number of steps.

mod facts;
mod frame;
mod globals;
mod reader;
mod variables;
mod words;

use std::ops::Range;
use std::sync::Arc;

pub use reader::TypeReader;

use super::object::UnitId;

/// A type, by where its entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId {
    pub(super) unit: UnitId,
    pub(super) entry: usize,
}

/// The kind of a type's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// An address of something.
    Pointer,
    /// Another name for something.
    Reference,
    /// Several of a kind in a row.
    Array,
    /// Fields beside each other.
    Struct,
    /// A structure, as C++ has it.
    Class,
    /// Fields in the same place.
    Union,
    /// A number that stands for a name.
    Enumeration,
    /// A name for another type.
    Typedef,
    /// Another type that is constant, or the like.
    Qualified,
    /// Code.
    Function,
    /// A number of the machine's.
    Base,
    /// Anything else.
    Other,
}

/// Facts of a type's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeFacts {
    /// The kind of the type.
    pub kind: TypeKind,
    /// Its name; untrusted.
    pub name: Option<Arc<str>>,
    /// The type that it is made from; `None` for nothing, as C's `void`.
    pub target: Option<TypeId>,
    /// Number of bytes that it says to take.
    pub size: Option<u64>,
    /// Number of elements that an array has.
    pub count: Option<u64>,
}

/// A field of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMember {
    /// Its name; untrusted. Fields of fields without one count as the outer type's own.
    pub name: Option<Arc<str>>,
    /// Offset of its first byte, in bytes from the beginning of the type.
    pub offset: u64,
    /// Number of bits that it has, where it does not have whole bytes.
    pub bits: Option<u64>,
    /// Its kind.
    pub ty: Option<TypeId>,
}

/// A variable or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its kind.
    pub ty: Option<TypeId>,
    /// Its locations while certain code runs, in the order of its entry.
    pub held: Vec<LocationEntry>,
}

/// The location of a variable while some code runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationEntry {
    /// The code, by virtual address; `None` for all code of its scope.
    pub code: Option<Range<u64>>,
    /// The place.
    pub place: VariableLocation,
}

/// A place that holds a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableLocation {
    /// The register holds it.
    Register(u16),
    /// It is what the register holds and so much more.
    Sum(u16, i64),
    /// It lies in memory, so far from what the register holds.
    Memory(u16, i64),
    /// It lies in memory, so far from the base of the function's frame.
    Frame(i64),
    /// It lies in memory, at that virtual address.
    Address(u64),
}

/// A stretch of code with variables of its own: a function, an inlined call, or a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Number of scopes that are around it.
    pub depth: u32,
    /// Its code, by virtual address, in the order of its entry.
    pub code: Vec<Range<u64>>,
    /// Its variables and parameters.
    pub variables: Vec<Variable>,
}

/// A function with the scopes in it.
#[derive(Debug)]
pub struct Scopes {
    /// The function, then each scope before those within it.
    pub list: Vec<Scope>,
    /// The base that offsets in the function's frame count from.
    pub base: FrameBase,
    /// Whose code it is.
    pub unit: UnitId,
}

/// The base that offsets in a function's frame count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBase {
    /// The content of a register, by its DWARF number.
    Register(u16),
    /// The stack pointer before the call.
    CallFrame,
    /// The entry does not say.
    Unknown,
}

impl Scopes {
    /// The scopes around an address, the function first.
    pub fn around(&self, address: u64) -> Vec<&Scope> {
        let mut around: Vec<&Scope> = Vec::new();
        for scope in &self.list {
            let holds = scope.code.iter().any(|code| code.contains(&address));
            if holds && around.last().map_or(0, |outer| outer.depth + 1) == scope.depth {
                around.push(scope);
            }
        }
        around
    }
}
