//! The registers of one frame; those that a callee may have changed are not known in its callers.

use crate::arch::{Arch, Register};

/// Values of the registers that are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterFile {
    pub(crate) arch: Arch,
    /// The instruction pointer.
    pub(crate) ip: u64,
    known: u64,
    values: [u64; 32],
}

impl RegisterFile {
    /// Only the instruction pointer is known.
    pub fn new(arch: Arch, ip: u64) -> RegisterFile {
        RegisterFile {
            arch,
            ip,
            known: 0,
            values: [0; 32],
        }
    }

    /// The processor.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// The instruction pointer.
    pub fn ip(&self) -> u64 {
        self.ip
    }

    /// Sets a register.
    #[inline]
    pub fn set(&mut self, register: Register, value: u64) {
        if let Some(slot) = self.values.get_mut(usize::from(register.0)) {
            *slot = value;
            self.known |= 1 << register.0;
        }
    }

    /// A register's value, if it is known.
    #[inline]
    pub fn get(&self, register: Register) -> Option<u64> {
        if self.arch.instruction_pointer() == Some(register) {
            return Some(self.ip);
        }
        let value = self.values.get(usize::from(register.0))?;
        (self.known >> register.0 & 1 == 1).then_some(*value)
    }

    /// The caller's values of these when nothing is said about a register; its instruction pointer is not known yet.
    #[inline]
    pub(crate) fn kept(&self) -> RegisterFile {
        RegisterFile {
            known: self.known & self.arch.kept_by_calls(),
            ..*self
        }
    }

    /// Makes a register unknown.
    pub(crate) fn forget(&mut self, register: Register) {
        self.known &= !(1_u64.checked_shl(u32::from(register.0)).unwrap_or(0));
    }

    pub(crate) fn stack_pointer(&self) -> Option<u64> {
        self.get(self.arch.stack_pointer())
    }
}
