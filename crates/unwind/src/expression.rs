//! DWARF expressions in unwind tables: those of PLT entries and signal frames, mostly.

use gimli::{Encoding, EndianSlice, EvaluationResult, Format, Location, RunTimeEndian, Value};

use crate::arch::Register;
use crate::end::UnwindEnd;
use crate::registers::RegisterFile;

/// Most operations of an expression; real ones have a dozen.
const MOST_OPERATIONS: u32 = 4096;

/// The value of an expression. `base` is what the stack of the expression begins with.
pub(crate) fn evaluate(
    expression: &[u8],
    little_endian: bool,
    base: Option<u64>,
    registers: &RegisterFile,
    read: impl Fn(u64) -> Result<u64, UnwindEnd>,
) -> Result<u64, UnwindEnd> {
    let endian = if little_endian {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    };
    let encoding = Encoding {
        address_size: registers.arch.address_size(),
        format: Format::Dwarf32,
        version: 4,
    };
    let mut evaluation = gimli::Evaluation::new(EndianSlice::new(expression, endian), encoding);
    evaluation.set_max_iterations(MOST_OPERATIONS);
    if let Some(base) = base {
        evaluation.set_initial_value(base);
    }
    let mut state = evaluation.evaluate();
    loop {
        state = match state.map_err(|_| UnwindEnd::DamagedUnwindInfo)? {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let number = u8::try_from(register.0).map_err(|_| UnwindEnd::RegisterUnknown)?;
                let value = registers
                    .get(Register(number))
                    .ok_or(UnwindEnd::RegisterUnknown)?;
                evaluation.resume_with_register(Value::Generic(value))
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let word = read(address)?;
                evaluation.resume_with_memory(Value::Generic(narrowed(word, size, little_endian)))
            }
            EvaluationResult::RequiresCallFrameCfa => match base {
                Some(frame) => evaluation.resume_with_call_frame_cfa(frame),
                None => return Err(UnwindEnd::DamagedUnwindInfo),
            },
            // Anything else asks for what unwind tables have no business with.
            _ => return Err(UnwindEnd::DamagedUnwindInfo),
        };
    }
    match evaluation.as_result() {
        [piece] => match piece.location {
            Location::Address { address } => Ok(address),
            Location::Value { value } => value
                .to_u64(u64::MAX)
                .map_err(|_| UnwindEnd::DamagedUnwindInfo),
            Location::Register { register } => {
                let number = u8::try_from(register.0).map_err(|_| UnwindEnd::RegisterUnknown)?;
                registers
                    .get(Register(number))
                    .ok_or(UnwindEnd::RegisterUnknown)
            }
            _ => Err(UnwindEnd::DamagedUnwindInfo),
        },
        _ => Err(UnwindEnd::DamagedUnwindInfo),
    }
}

/// The first `size` bytes of a word in memory.
fn narrowed(word: u64, size: u8, little_endian: bool) -> u64 {
    match u32::from(size) {
        size @ 1..8 if little_endian => word & ((1 << (size * 8)) - 1),
        size @ 1..8 => word >> (64 - size * 8),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arch;

    fn value(expression: &[u8]) -> Result<u64, UnwindEnd> {
        let mut registers = RegisterFile::new(Arch::X86_64, 0x401_00b);
        registers.set(Register(7), 0x1000);
        evaluate(
            expression,
            true,
            Some(0x2000),
            &registers,
            |address| match address {
                0x1008 => Ok(0xfedc_ba98_7654_3210),
                _ => Err(UnwindEnd::CopyTooShort),
            },
        )
    }

    #[test]
    fn registers_memory_and_the_frame() {
        // breg7 8
        assert_eq!(value(&[0x77, 8]), Ok(0x1008));
        // breg7 8, deref
        assert_eq!(value(&[0x77, 8, 0x06]), Ok(0xfedc_ba98_7654_3210));
        // breg7 8, deref_size 2
        assert_eq!(value(&[0x77, 8, 0x94, 2]), Ok(0x3210));
        // plus_uconst 3: the frame's address is there already
        assert_eq!(value(&[0x23, 3]), Ok(0x2003));
        assert_eq!(value(&[0x77, 16, 0x06]), Err(UnwindEnd::CopyTooShort));
        assert_eq!(value(&[0x70, 0]), Err(UnwindEnd::RegisterUnknown));
    }

    #[test]
    fn an_endless_expression_ends() {
        // skip -3
        assert_eq!(
            value(&[0x2f, 0xfd, 0xff]),
            Err(UnwindEnd::DamagedUnwindInfo)
        );
    }
}
