//! The walk from the innermost function outwards.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::arch::Arch;
use crate::end::UnwindEnd;
use crate::frame_pointer;
use crate::info::UnwindInfo;
use crate::registers::RegisterFile;
use crate::row::Row;
use crate::stack::{NoWord, StackCopy};
use crate::step::Frame;
use crate::tables::NoRow;

/// A moment of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// The values of its registers.
    pub registers: RegisterFile,
    /// Its stack, from the stack pointer upwards.
    pub stack: StackCopy<'a>,
}

/// A number that stands for an object in a [`UnwindCache`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ObjectKey(pub u32);

/// The object or memory at an address.
#[derive(Clone, Copy, Debug)]
pub enum Location<'a> {
    /// Nothing is mapped.
    Nothing,
    /// Memory without an object, such as code made at run time.
    Memory,
    /// A file is mapped that is not here.
    Missing,
    /// An object.
    Object {
        /// The one that is meant.
        key: ObjectKey,
        /// Its tables.
        info: &'a UnwindInfo,
        /// The address as an offset in its file.
        offset: u64,
    },
}

/// The address space of a thread.
pub trait AddressSpace {
    /// The object or memory at an address.
    fn spot(&self, address: u64) -> Location<'_>;
}

/// The rules that one worker has met; every worker has its own, so that none waits for another.
#[derive(Debug, Default)]
pub struct UnwindCache {
    rows: FxHashMap<(ObjectKey, u64), Result<Arc<Row>, NoRow>>,
}

impl UnwindCache {
    #[inline]
    fn row(&mut self, key: ObjectKey, info: &UnwindInfo, offset: u64) -> Result<&Row, NoRow> {
        let row = self
            .rows
            .entry((key, offset))
            .or_insert_with(|| info.row(offset));
        row.as_deref().map_err(|why| *why)
    }
}

/// Appends the addresses of a thread's calls, innermost first, `limit` at most: of callers, the last byte of their calls.
/// Gives why there are no more.
pub fn walk(
    snapshot: &Snapshot<'_>,
    space: &impl AddressSpace,
    cache: &mut UnwindCache,
    limit: usize,
    addresses: &mut Vec<u64>,
) -> UnwindEnd {
    let mut walker = Walker {
        stack: &snapshot.stack,
        space,
        cache,
    };
    let mut registers = snapshot.registers;
    // Whether the address is that of the next instruction, not one that a call returns to.
    let mut exact = true;
    for taken in 0..limit {
        let at = if exact {
            registers.ip
        } else {
            registers.ip.wrapping_sub(1)
        };
        let step = walker.step(&registers, at, taken == 0);
        // What lies before the first byte of memory is no call.
        addresses.extend(
            Some(if step.is_signal { registers.ip } else { at }).filter(|address| *address != 0),
        );
        let caller = match step.caller {
            Ok(caller) => caller,
            Err(end) => return end,
        };
        if caller.ip == registers.ip && caller.stack_pointer() == registers.stack_pointer() {
            return UnwindEnd::Loop;
        }
        (registers, exact) = (caller, step.is_signal);
    }
    UnwindEnd::Limit
}

struct Walker<'w, S> {
    stack: &'w StackCopy<'w>,
    space: &'w S,
    cache: &'w mut UnwindCache,
}

/// The result for one frame.
struct Step {
    /// Its caller, or why there is none.
    caller: Result<RegisterFile, UnwindEnd>,
    /// True if it is the kernel's call of a signal handler.
    is_signal: bool,
}

impl<S: AddressSpace> Walker<'_, S> {
    #[inline]
    fn step(&mut self, registers: &RegisterFile, at: u64, is_innermost: bool) -> Step {
        let why = match self.space.spot(at) {
            // The vdso of this machine in place of that of a 32-bit program.
            Location::Object { info, .. } if info.arch() != registers.arch => {
                UnwindEnd::ObjectMissing
            }
            Location::Object { key, info, offset } => match self.cache.row(key, info, offset) {
                Ok(row) => {
                    let little_endian = self.stack.little_endian;
                    let read = |address| read(self.stack, self.space, address);
                    let caller = Frame {
                        registers,
                        little_endian,
                        read,
                    }
                    .caller(row);
                    return Step {
                        caller,
                        is_signal: row.is_signal,
                    };
                }
                Err(NoRow::NotCovered) => UnwindEnd::NoUnwindInfo,
                Err(NoRow::Damaged) => UnwindEnd::DamagedUnwindInfo,
            },
            Location::Memory => UnwindEnd::NoUnwindInfo,
            Location::Missing => UnwindEnd::ObjectMissing,
            Location::Nothing => UnwindEnd::Unmapped,
        };
        let read = |address| self.stack.word(address).ok();
        let caller = frame_pointer::caller(registers, is_innermost, why, read);
        Step {
            caller,
            is_signal: false,
        }
    }
}

/// A word of memory: of the stack, or of what an object's file holds at that place.
#[inline]
fn read(stack: &StackCopy<'_>, space: &impl AddressSpace, address: u64) -> Result<u64, UnwindEnd> {
    stack
        .word(address)
        .or_else(|why| match (space.spot(address), why) {
            (Location::Object { info, offset, .. }, _) => info
                .bytes(offset)
                .and_then(|bytes| stack.number(bytes))
                .ok_or(UnwindEnd::MemoryUnknown),
            (_, NoWord::BehindCopy) => Err(UnwindEnd::CopyTooShort),
            (_, NoWord::Elsewhere) => Err(UnwindEnd::MemoryUnknown),
        })
}

impl Arch {
    /// Registers from perf's list of them: the values of the bits of `mask`, lowest bit first. `None` without an
    /// instruction pointer.
    pub fn registers(self, mask: u64, values: impl Iterator<Item = u64>) -> Option<RegisterFile> {
        let mut registers = RegisterFile::new(self, 0);
        let mut ip = None;
        let bits = (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1);
        for (bit, value) in bits.zip(values) {
            if bit == self.recorded_ip() {
                ip = Some(value);
            }
            if let Some(register) = self.recorded(bit) {
                registers.set(register, value);
            }
        }
        registers.ip = ip?;
        Some(registers)
    }
}
