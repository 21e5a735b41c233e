//! The types of the data that instructions work on.
//!
//! An instruction that names a place in memory does so by a register, or by its own address. Debug information tells which
//! variables registers hold; where no variable is held there, values are followed through the instructions before it, from
//! the beginning of its block or function. Which places are looked at, and which type wins where several fit, is as in
//! perf 7.2.

mod code;
mod data_names;
mod direct;
mod follow;
mod layout;
mod operand_support;
mod path;
mod state;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use oxperf_disasm::{MemoryOperand, Operation, Segment};
use oxperf_objects::Elf;
use oxperf_symbols::{DebugInfo, Scopes, TypeId, TypeReader};

use crate::CodeNames;
use code::{Code, Coded};
pub use data_names::{DataNames, NamedData, typed_data};
use follow::Effort;
pub use layout::{DataField, DataLayout};

/// The data that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataAccess {
    /// It is not known.
    Unknown(Miss),
    /// The adjustment of the stack as it grows and shrinks.
    Stack,
    /// The mark that tells whether the stack was overwritten.
    Canary,
    /// Data of a type.
    Data {
        /// The type.
        ty: TypeId,
        /// Offset in bytes from its beginning.
        offset: u64,
        /// True if it took the instructions before to find that, and not debug information alone.
        followed: bool,
    },
}

/// The reason why it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Miss {
    /// There is no such instruction.
    NoInstruction,
    /// It names no place in memory, or is none of those that are looked at.
    NoMemory,
    /// The object has no debug information.
    NoDebugInfo,
    /// No unit of it tells of that code.
    NoUnit,
    /// There is no variable of the whole program, or no function with variables is known.
    NoVariable,
    /// It is not known what is held there.
    NoType,
    /// The value that is held there is no pointer.
    NoPointer,
    /// The place lies outside of the type.
    Outside,
}

/// Limit of the instructions in a row that are looked at because CPUs may take them together.
const FUSED_LIMIT: usize = 1 << 8;

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
    pub fn new(
        image: &'d Elf<'d>,
        names: CodeNames<'d>,
        info: Option<&'d DebugInfo>,
    ) -> DataTypes<'d> {
        let reader = info.and_then(TypeReader::new);
        DataTypes {
            image,
            names,
            reader,
            functions: HashMap::new(),
        }
    }

    /// The reader of types.
    pub fn reader(&mut self) -> Option<&mut TypeReader<'d>> {
        self.reader.as_mut()
    }

    /// Returns whether there is debug information.
    pub fn is_told(&self) -> bool {
        self.reader.is_some()
    }

    /// The data that the instruction at an address of a function works on.
    pub fn at(&mut self, function: Range<u64>, address: u64) -> DataAccess {
        if !self.is_told() {
            return DataAccess::Unknown(Miss::NoDebugInfo);
        }
        let Some(code) = self.code(function) else {
            return DataAccess::Unknown(Miss::NoInstruction);
        };
        let Some(nth) = code.at(address) else {
            return DataAccess::Unknown(Miss::NoInstruction);
        };
        self.worked_on(&code, nth)
    }

    /// The first words of the instructions that tell what the one at an address of a function works on, as in listings:
    /// its own, and those of the ones before it that may have been the access.
    pub fn instructions(&mut self, function: Range<u64>, address: u64) -> Vec<Rc<str>> {
        let Some(code) = self.code(function) else {
            return Vec::new();
        };
        let Some(nth) = code.at(address) else {
            return Vec::new();
        };
        // One that works on the stack alone is what it is, whatever stood before it.
        let first_alone = operand_support::moves_stack(&code.list[nth].name);
        let looked_at = looked_at(&code, nth).take(if first_alone { 1 } else { usize::MAX });
        looked_at.map(|nth| code.list[nth].first_word()).collect()
    }

    /// The data that the instructions of a function work on
    pub fn all_of(&mut self, function: Range<u64>) -> Vec<(u64, DataAccess)> {
        let Some(code) = self.code(function).filter(|_| self.is_told()) else {
            return Vec::new();
        };
        let mut effort = Effort::for_function();
        let accesses = (0..code.list.len()).map(|nth| {
            let access = self.named(&code, nth, &mut effort);
            (code.list[nth].address, access)
        });
        accesses
            .filter(|(_, access)| !matches!(access, DataAccess::Unknown(_)))
            .collect()
    }

    fn code(&mut self, function: Range<u64>) -> Option<Rc<Code>> {
        let (image, names) = (self.image, self.names);
        let read = || Code::read(image, &names, function.clone()).map(Rc::new);
        self.functions
            .entry(function.start)
            .or_insert_with(read)
            .clone()
    }

    fn worked_on(&mut self, code: &Code, nth: usize) -> DataAccess {
        if operand_support::moves_stack(&code.list[nth].name) {
            return DataAccess::Stack;
        }
        // The one that is looked at last is the access.
        let access = looked_at(code, nth).last().unwrap_or(nth);
        self.named(code, access, &mut Effort::for_instruction())
    }

    /// The data in memory that an instruction names.
    fn named(&mut self, code: &Code, nth: usize, effort: &mut Effort) -> DataAccess {
        match access(&code.list[nth]) {
            Named::Place(memory) => self.found(code, nth, &memory, effort),
            Named::Canary => DataAccess::Canary,
            Named::Other | Named::Nothing => DataAccess::Unknown(Miss::NoMemory),
        }
    }

    fn found(
        &mut self,
        code: &Code,
        nth: usize,
        memory: &MemoryOperand,
        effort: &mut Effort,
    ) -> DataAccess {
        match self.search(code, nth, memory, effort) {
            Ok(((ty, offset), followed)) => DataAccess::Data {
                ty,
                offset,
                followed,
            },
            Err(miss) => DataAccess::Unknown(miss),
        }
    }

    /// The type with the distance from its beginning, and whether values had to be followed.
    fn search(
        &mut self,
        code: &Code,
        nth: usize,
        memory: &MemoryOperand,
        effort: &mut Effort,
    ) -> Result<((TypeId, u64), bool), Miss> {
        let names = self.names;
        let reader = self.reader.as_mut().ok_or(Miss::NoDebugInfo)?;
        let address = code.list[nth].address;
        let unit = reader.unit_of(address).ok_or(Miss::NoUnit)?;
        if let Some(absolute) = memory.absolute {
            let global = direct::global(reader, &names, unit, absolute);
            return global.map(|found| (found, false)).ok_or(Miss::NoVariable);
        }
        let scopes = reader.scopes(address).ok_or(Miss::NoVariable)?;
        let place = Sought::of(memory).ok_or(Miss::NoVariable)?;
        match direct::held(reader, &scopes, address, place) {
            Some(found) => Ok((found, false)),
            None => {
                let found = {
                    let question = follow::Question {
                        names: &names,
                        code,
                        scopes: &scopes,
                        nth,
                        place,
                    };
                    follow::search(reader, &question, effort)
                };
                found.map(|found| (found, true))
            }
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
    fn of(memory: &MemoryOperand) -> Option<Sought> {
        Some(Sought {
            register: memory.base.or(memory.index)?,
            offset: memory.displacement,
        })
    }
}

/// The instructions that may have been the access to data at which one was sampled: itself, and those before it which CPUs
/// take together with it, as long as none of them names a place.
fn looked_at(code: &Code, nth: usize) -> impl Iterator<Item = usize> {
    let looked_at = std::iter::successors(Some(nth), |nth| {
        let before = nth.checked_sub(1)?;
        let [first, second] = [before, *nth].map(|nth| &code.list[nth]);
        let fuse = matches!(access(second), Named::Nothing)
            && operand_support::fuse(&first.name, &second.name);
        fuse.then_some(before)
    });
    looked_at.take(FUSED_LIMIT)
}

/// A place that an instruction names.
enum Named {
    Place(MemoryOperand),
    Canary,
    /// A place that is not looked for.
    Other,
    Nothing,
}

fn access(coded: &Coded) -> Named {
    let Some(memory) = coded.step.as_ref().and_then(Operation::memory) else {
        return Named::Nothing;
    };
    if !operand_support::is_parsed(&coded.name) {
        return Named::Other;
    }
    /// Offset of the mark that the kernel keeps.
    const CANARY: i64 = 0x28;
    match (memory.base.or(memory.index), memory.absolute) {
        (None, None) if memory.segment == Segment::Gs && memory.displacement == CANARY => {
            Named::Canary
        }
        (None, None) => Named::Other,
        _ => Named::Place(memory),
    }
}

/// The base of offsets in the frame of a function
fn frame(reader: &mut TypeReader<'_>, scopes: &Scopes, address: u64) -> Option<(u16, i64)> {
    match scopes.base {
        oxperf_symbols::FrameBase::Register(register) => Some((register, 0)),
        oxperf_symbols::FrameBase::CallFrame => reader.call_frame(address),
        oxperf_symbols::FrameBase::Unknown => None,
    }
}
