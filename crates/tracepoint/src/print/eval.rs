//! The number an expression is in one record.

use super::ctype::IntType;
use super::expression::{Binary, Expression, Unary};
use crate::bytes::{ByteOrder, WordSize, part};
use crate::field::FormatField;
use crate::names::{KernelSymbols, NoSymbols};
use crate::printk::PrintkStrings;

/// One record's bytes and what its numbers mean.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) order: ByteOrder,
    pub(crate) word: WordSize,
    pub(crate) strings: &'a PrintkStrings,
    pub(crate) symbols: &'a dyn KernelSymbols,
}

/// The value of an expression that needs no record; fields count as 0.
pub(super) fn constant(expression: &Expression) -> u64 {
    let record = Record {
        bytes: &[],
        order: ByteOrder::NATIVE,
        word: WordSize::NATIVE,
        strings: &PrintkStrings::default(),
        symbols: &NoSymbols,
    };
    record.number(expression)
}

impl<'a> Record<'a> {
    /// The value, widened to 64 bits by its type's sign; 0 for what is not in the record or is no number.
    pub(super) fn number(&self, expression: &Expression) -> u64 {
        match expression {
            Expression::Number(value, kind) => kind.widen(*value),
            Expression::Field(field) => self.field_number(field).unwrap_or(0),
            Expression::Element { array, index, kind } => {
                self.element(array, index, *kind).unwrap_or(0)
            }
            Expression::Length(field) => {
                field.bytes(self.bytes, self.order).map_or(0, <[u8]>::len) as u64
            }
            Expression::Unary(op, operand) => self.unary(*op, operand),
            Expression::Binary(op, kind, operands) => self.binary(*op, *kind, operands),
            Expression::Choice(parts) => self.number(self.chosen(parts)),
            Expression::Cast(kind, operand) => kind.widen(self.number(operand)),
            Expression::SwapBytes(kind, operand) => self.big_endian(*kind, self.number(operand)),
            Expression::Flags(table) => self.number(&table.value),
            Expression::Symbols(table) => self.number(&table.value),
            _ => 0,
        }
    }

    /// The branch that the condition selects.
    pub(super) fn chosen<'e>(&self, parts: &'e [Expression; 3]) -> &'e Expression {
        let [condition, then, otherwise] = parts;
        if self.number(condition) != 0 {
            then
        } else {
            otherwise
        }
    }

    /// The bytes that an array, a text or a field's data consists of.
    pub(super) fn data(&self, expression: &Expression) -> Option<&'a [u8]> {
        match expression {
            Expression::Field(field) | Expression::Data(field) => {
                field.bytes(self.bytes, self.order)
            }
            Expression::Cast(_, operand) => self.data(operand),
            Expression::Choice(parts) => self.data(self.chosen(parts)),
            _ => None,
        }
    }

    /// `length` bytes from the start of the data, as far as the record has them: a helper may be told of more than
    /// the field it begins with.
    pub(super) fn data_of_length(&self, expression: &Expression, length: u64) -> &'a [u8] {
        let data = self.data(expression).unwrap_or_default();
        let start = (data.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        let rest = self
            .bytes
            .get(start..)
            .filter(|_| !data.is_empty())
            .unwrap_or_default();
        let length = usize::try_from(length)
            .unwrap_or(usize::MAX)
            .min(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    fn field_number(&self, field: &FormatField) -> Option<u64> {
        let bytes = part(self.bytes, field.offset, field.size)?;
        Some(IntType::new(field.size, field.signed).widen(self.order.unsigned(bytes)?))
    }

    fn element(&self, array: &Expression, index: &Expression, kind: IntType) -> Option<u64> {
        let index = usize::try_from(self.number(index)).ok()?;
        let bytes = part(
            self.data(array)?,
            index.checked_mul(kind.size())?,
            kind.size(),
        )?;
        Some(kind.widen(self.order.unsigned(bytes)?))
    }

    fn unary(&self, op: Unary, operand: &Expression) -> u64 {
        let (value, kind) = (self.number(operand), operand.kind().promoted());
        match op {
            Unary::Negate => kind.widen(value.wrapping_neg()),
            Unary::Invert => kind.widen(!value),
            Unary::Not => u64::from(value == 0),
        }
    }

    fn binary(&self, op: Binary, kind: IntType, [left, right]: &[Expression; 2]) -> u64 {
        match op {
            Binary::Or => u64::from(self.number(left) != 0 || self.number(right) != 0),
            Binary::And => u64::from(self.number(left) != 0 && self.number(right) != 0),
            _ => apply(op, kind, kind.widen(self.number(left)), self.number(right)),
        }
    }

    fn big_endian(&self, kind: IntType, value: u64) -> u64 {
        match self.order {
            ByteOrder::Big => kind.cut(value),
            ByteOrder::Little => value.swap_bytes() >> (64 - 8 * kind.size()),
        }
    }
}

fn apply(op: Binary, kind: IntType, left: u64, right: u64) -> u64 {
    let shift = right as u32;
    let right = kind.widen(right);
    kind_of_result(op, kind).widen(match op {
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::BitAnd => left & right,
        Binary::Equal => u64::from(left == right),
        Binary::NotEqual => u64::from(left != right),
        Binary::Less => u64::from(less(kind, left, right)),
        Binary::Greater => u64::from(less(kind, right, left)),
        Binary::LessEqual => u64::from(!less(kind, right, left)),
        Binary::GreaterEqual => u64::from(!less(kind, left, right)),
        Binary::ShiftLeft => left.wrapping_shl(shift),
        Binary::ShiftRight if kind.signed() => (left as i64).wrapping_shr(shift) as u64,
        Binary::ShiftRight => left.wrapping_shr(shift),
        Binary::Add => left.wrapping_add(right),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide => divide(kind, left, right),
        Binary::Remainder if right == 0 => 0,
        Binary::Remainder => left.wrapping_sub(divide(kind, left, right).wrapping_mul(right)),
        Binary::Or | Binary::And => 0,
    })
}

/// Comparisons are computed in the operands' type and give an `int`.
fn kind_of_result(op: Binary, kind: IntType) -> IntType {
    use Binary::*;
    if matches!(
        op,
        Equal | NotEqual | Less | Greater | LessEqual | GreaterEqual
    ) {
        IntType::INT
    } else {
        kind
    }
}

fn less(kind: IntType, left: u64, right: u64) -> bool {
    if kind.signed() {
        (left as i64) < right as i64
    } else {
        left < right
    }
}

/// The quotient; 0 for a division by 0, which C leaves open.
fn divide(kind: IntType, left: u64, right: u64) -> u64 {
    if kind.signed() {
        (left as i64).checked_div(right as i64).unwrap_or(0) as u64
    } else {
        left.checked_div(right).unwrap_or(0)
    }
}
