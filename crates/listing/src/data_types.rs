//! The types of the data that instructions work on.
//!
//! An instruction that names a place in memory does so by a register, or by its own address. Debug information tells which
//! variables registers hold; where no variable is held there, values are followed through the instructions before it, from
//! the beginning of its block or function. Which places are looked at, and which type wins where several fit, is as in
//! perf 7.2.

mod code;
mod direct;
mod follow;
mod layout;
mod looked_at;
mod path;
mod state;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use oxperf_disasm::{Memory, Segment, Step};
use oxperf_objects::Elf;
use oxperf_symbols::{DebugInfo, Scopes, TypeId, TypeReader};

use crate::CodeNames;
use code::{Code, Coded};
pub use layout::{DataField, DataLayout};

/// What an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataAccess {
    /// It is not known.
    Unknown(Miss),
    /// What the stack grows and shrinks by.
    Stack,
    /// The mark that tells whether the stack was overwritten.
    Canary,
    /// Data of a type.
    Data {
        /// The type.
        ty: TypeId,
        /// How many bytes from its beginning.
        offset: u64,
    },
}

/// Why it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    /// There is no such instruction.
    NoInstruction,
    /// It names no place in memory, or is none of those that are looked at.
    NoMemory,
    /// No debug information tells of that code.
    NoDebugInfo,
    /// No variable of a known type is there.
    NoVariable,
    /// What is held there is no pointer.
    NoPointer,
    /// The place lies outside of the type.
    Outside,
}

/// The types of the data that the code of one object works on. Addresses are virtual ones of its file.
pub struct DataTypes<'d> {
    image: &'d Elf<'d>,
    names: CodeNames<'d>,
    /// Reads types; `None` where there is no debug information.
    reader: Option<TypeReader<'d>>,
    functions: HashMap<u64, Option<Rc<Code>>>,
}

impl<'d> DataTypes<'d> {
    /// Asks an object's debug information, if there is some.
    pub fn new(image: &'d Elf<'d>, names: CodeNames<'d>, info: Option<&'d DebugInfo>) -> DataTypes<'d> {
        let reader = info.and_then(TypeReader::new);
        DataTypes { image, names, reader, functions: HashMap::new() }
    }

    /// What tells of types.
    pub fn reader(&mut self) -> Option<&mut TypeReader<'d>> {
        self.reader.as_mut()
    }

    /// What the instruction at an address of a function works on.
    pub fn at(&mut self, function: Range<u64>, address: u64) -> DataAccess {
        let Some(code) = self.code(function) else { return DataAccess::Unknown(Miss::NoInstruction) };
        let Some(nth) = code.at(address) else { return DataAccess::Unknown(Miss::NoInstruction) };
        self.worked_on(&code, nth)
    }

    /// The name of the instruction at an address of a function, as in listings.
    pub fn instruction(&mut self, function: Range<u64>, address: u64) -> Option<Box<str>> {
        let code = self.code(function)?;
        Some(code.list[code.at(address)?].name.clone())
    }

    fn code(&mut self, function: Range<u64>) -> Option<Rc<Code>> {
        let (image, names) = (self.image, self.names);
        let read = || Code::read(image, &names, function.clone()).map(Rc::new);
        self.functions.entry(function.start).or_insert_with(read).clone()
    }

    fn worked_on(&mut self, code: &Code, nth: usize) -> DataAccess {
        let coded = &code.list[nth];
        if looked_at::moves_stack(&coded.name) {
            return DataAccess::Stack;
        }
        self.worked_on_by(code, nth)
    }

    fn worked_on_by(&mut self, code: &Code, nth: usize) -> DataAccess {
        let coded = &code.list[nth];
        match access(coded) {
            Named::Place(memory) => self.found(code, nth, &memory),
            Named::Canary => DataAccess::Canary,
            Named::Other => DataAccess::Unknown(Miss::NoMemory),
            // The access may have been that of the instruction before, which CPUs take together with this one.
            Named::Nothing => match nth.checked_sub(1) {
                Some(before) if looked_at::fuse(&code.list[before].name, &coded.name) => {
                    self.worked_on_by(code, before)
                }
                _ => DataAccess::Unknown(Miss::NoMemory),
            },
        }
    }

    fn found(&mut self, code: &Code, nth: usize, memory: &Memory) -> DataAccess {
        match self.search(code, nth, memory) {
            Ok((ty, offset)) => DataAccess::Data { ty, offset },
            Err(miss) => DataAccess::Unknown(miss),
        }
    }

    fn search(&mut self, code: &Code, nth: usize, memory: &Memory) -> Result<(TypeId, u64), Miss> {
        let names = self.names;
        let reader = self.reader.as_mut().ok_or(Miss::NoDebugInfo)?;
        let address = code.list[nth].address;
        let unit = reader.unit_of(address).ok_or(Miss::NoDebugInfo)?;
        if let Some(absolute) = memory.absolute {
            return direct::global(reader, &names, unit, absolute).ok_or(Miss::NoVariable);
        }
        let scopes = reader.scopes(address).ok_or(Miss::NoVariable)?;
        let place = Sought::of(memory).ok_or(Miss::NoVariable)?;
        match direct::held(reader, &scopes, address, place) {
            Some(found) => Ok(found),
            None => follow::search(reader, (&names, code), (&scopes, nth), place),
        }
    }
}

/// A place in memory that types are sought for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sought {
    register: u16,
    offset: i64,
}

impl Sought {
    fn of(memory: &Memory) -> Option<Sought> {
        Some(Sought { register: memory.base.or(memory.index)?, offset: memory.displacement })
    }
}

/// What an instruction names.
enum Named {
    Place(Memory),
    Canary,
    /// A place that is not looked for.
    Other,
    Nothing,
}

fn access(coded: &Coded) -> Named {
    let Some(memory) = coded.step.as_ref().and_then(Step::memory) else { return Named::Nothing };
    if !looked_at::is_parsed(&coded.name) {
        return Named::Other;
    }
    /// Where the kernel keeps the mark.
    const CANARY: i64 = 0x28;
    match (memory.base.or(memory.index), memory.absolute) {
        (None, None) if memory.segment == Segment::Gs && memory.displacement == CANARY => Named::Canary,
        (None, None) => Named::Other,
        _ => Named::Place(memory),
    }
}

/// What offsets in the frame of a function come to, while the code at an address runs: the register and what is to be added.
fn frame(reader: &mut TypeReader<'_>, scopes: &Scopes, address: u64) -> Option<(u16, i64)> {
    match scopes.base {
        oxperf_symbols::FrameBase::Register(register) => Some((register, 0)),
        oxperf_symbols::FrameBase::CallFrame => reader.call_frame(address),
        oxperf_symbols::FrameBase::Unknown => None,
    }
}
