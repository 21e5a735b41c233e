//! From one frame to its caller, by the rules of a row.

use crate::arch::Register;
use crate::end::UnwindEnd;
use crate::expression::evaluate;
use crate::registers::RegisterFile;
use crate::row::{FrameRule, Row, Rule};

/// The registers and the stack that a step reads.
pub(crate) struct Frame<'f, R> {
    pub(crate) registers: &'f RegisterFile,
    pub(crate) little_endian: bool,
    /// Reads a word of memory.
    pub(crate) read: R,
}

impl<R: Fn(u64) -> Result<u64, UnwindEnd>> Frame<'_, R> {
    /// The caller's registers.
    ///
    /// # Errors
    /// The reason why there is no caller, or none that can be found.
    pub(crate) fn caller(&self, row: &Row) -> Result<RegisterFile, UnwindEnd> {
        let arch = self.registers.arch;
        let frame = self.frame_address(row)?;
        let mut caller = self.registers.kept();
        caller.set(arch.stack_pointer(), frame);
        for (register, rule) in &row.registers {
            // A register that cannot be had is missed only where it is needed.
            match self.value(rule, frame, Some(*register)) {
                Ok(value) => caller.set(*register, value),
                Err(_) => caller.forget(*register),
            }
        }
        if row.return_address == Rule::Undefined {
            return Err(UnwindEnd::Outermost);
        }
        caller.ip = arch.plain_address(self.value(&row.return_address, frame, None)?);
        if caller.ip == 0 {
            Err(UnwindEnd::Outermost)
        } else {
            Ok(caller)
        }
    }

    fn frame_address(&self, row: &Row) -> Result<u64, UnwindEnd> {
        match &row.frame {
            FrameRule::Register(register, distance) => {
                let base = self
                    .registers
                    .get(*register)
                    .ok_or(UnwindEnd::RegisterUnknown)?;
                Ok(self
                    .registers
                    .arch
                    .plain_address(base.wrapping_add_signed(*distance)))
            }
            FrameRule::Expression(expression) => self.evaluate(expression, None),
        }
    }

    #[inline]
    fn value(&self, rule: &Rule, frame: u64, own: Option<Register>) -> Result<u64, UnwindEnd> {
        match rule {
            Rule::Undefined => Err(UnwindEnd::RegisterUnknown),
            Rule::Same => own
                .and_then(|own| self.registers.get(own))
                .ok_or(UnwindEnd::RegisterUnknown),
            Rule::At(distance) => (self.read)(frame.wrapping_add_signed(*distance)),
            Rule::Frame(distance) => Ok(frame.wrapping_add_signed(*distance)),
            Rule::In(register) => self
                .registers
                .get(*register)
                .ok_or(UnwindEnd::RegisterUnknown),
            Rule::AtExpression(expression) => (self.read)(self.evaluate(expression, Some(frame))?),
            Rule::Expression(expression) => self.evaluate(expression, Some(frame)),
        }
    }

    fn evaluate(&self, expression: &[u8], base: Option<u64>) -> Result<u64, UnwindEnd> {
        evaluate(
            expression,
            self.little_endian,
            base,
            self.registers,
            &self.read,
        )
    }
}
