//! Print expressions after parsing.

use super::ctype::IntType;
use super::tables::{FlagTable, SymbolTable};
use crate::field::FormatField;

/// A number or a text, as a function of a record.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(u64, IntType),
    Literal(Vec<u8>),
    Field(Box<FormatField>),
    /// `array[index]`, with the type of the element.
    Element {
        array: Box<Expression>,
        index: Box<Expression>,
        kind: IntType,
    },
    /// `__get_dynamic_array(field)`, `__get_str(field)`: where a field's data lies.
    Data(Box<FormatField>),
    /// `__get_dynamic_array_len(field)`: its bytes.
    Length(Box<FormatField>),
    Unary(Unary, Box<Expression>),
    /// Both operands are brought to the type first.
    Binary(Binary, IntType, Box<[Expression; 2]>),
    /// `[condition, then, otherwise]`.
    Choice(Box<[Expression; 3]>),
    Cast(IntType, Box<Expression>),
    SwapBytes(IntType, Box<Expression>),
    Flags(Box<FlagTable>),
    Symbols(Box<SymbolTable>),
    /// Bytes of `data` in hexadecimal, apart or not.
    Hex {
        data: Box<Expression>,
        length: Box<Expression>,
        apart: bool,
    },
    /// `[data, count, size of an element]`.
    List(Box<[Expression; 3]>),
    /// Set bits of a field's data, as ranges or as hexadecimal words.
    Bits {
        field: Box<FormatField>,
        ranges: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Invert,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    /// The operator that `symbol` writes, and how tightly it binds.
    pub(super) fn of(symbol: &str) -> Option<(Binary, u8)> {
        Some(match symbol {
            "||" => (Binary::Or, 1),
            "&&" => (Binary::And, 2),
            "|" => (Binary::BitOr, 3),
            "^" => (Binary::BitXor, 4),
            "&" => (Binary::BitAnd, 5),
            "==" => (Binary::Equal, 6),
            "!=" => (Binary::NotEqual, 6),
            "<" => (Binary::Less, 7),
            ">" => (Binary::Greater, 7),
            "<=" => (Binary::LessEqual, 7),
            ">=" => (Binary::GreaterEqual, 7),
            "<<" => (Binary::ShiftLeft, 8),
            ">>" => (Binary::ShiftRight, 8),
            "+" => (Binary::Add, 9),
            "-" => (Binary::Subtract, 9),
            "*" => (Binary::Multiply, 10),
            "/" => (Binary::Divide, 10),
            "%" => (Binary::Remainder, 10),
            _ => return None,
        })
    }

    /// Returns whether the result is 0 or 1.
    fn is_truth(self) -> bool {
        use Binary::*;
        matches!(
            self,
            Or | And | Equal | NotEqual | Less | Greater | LessEqual | GreaterEqual
        )
    }
}

impl Expression {
    /// `left op right`, computed in the type C would choose.
    pub(super) fn binary(op: Binary, left: Expression, right: Expression) -> Expression {
        let kind = match op {
            Binary::ShiftLeft | Binary::ShiftRight => left.kind().promoted(),
            _ => left.kind().common(right.kind()),
        };
        Expression::Binary(op, kind, Box::new([left, right]))
    }

    /// Returns whether the value is that of a field, whatever type it is taken for.
    pub(super) fn is_only(&self, field: &FormatField) -> bool {
        match self {
            Expression::Field(one) => **one == *field,
            Expression::Cast(_, inner) => inner.is_only(field),
            _ => false,
        }
    }

    /// The C type of the value; texts and addresses count as unsigned words.
    pub(super) fn kind(&self) -> IntType {
        match self {
            Expression::Number(_, kind)
            | Expression::Cast(kind, _)
            | Expression::SwapBytes(kind, _) => *kind,
            Expression::Element { kind, .. } => *kind,
            Expression::Field(field) => IntType::new(field.size, field.signed),
            Expression::Length(_) | Expression::Unary(Unary::Not, _) => IntType::INT,
            Expression::Unary(_, inner) => inner.kind().promoted(),
            Expression::Binary(op, _, _) if op.is_truth() => IntType::INT,
            Expression::Binary(_, kind, _) => *kind,
            Expression::Choice(parts) => parts[1].kind().common(parts[2].kind()),
            _ => IntType::U64,
        }
    }
}
