//! Numbers that stand for names: `__print_flags` and `__print_symbolic`.

use super::expression::Expression;
use super::number;
use crate::harmless;

/// Bits and the names they print as.
#[derive(Clone, Debug)]
pub(super) struct FlagTable {
    pub(super) value: Expression,
    /// The text between two names.
    pub(super) delimiter: Vec<u8>,
    pub(super) names: Vec<(u64, Vec<u8>)>,
}

impl FlagTable {
    /// Appends the names of the bits in `value`, then the bits without a name in hexadecimal.
    pub(super) fn write(&self, mut value: u64, out: &mut Vec<u8>) {
        let start = out.len();
        let next = |text: &[u8], out: &mut Vec<u8>| {
            if out.len() > start {
                harmless::append(out, &self.delimiter);
            }
            harmless::append(out, text);
        };
        for (mask, name) in self.names.iter().filter(|(mask, _)| *mask != 0) {
            if value & mask == *mask {
                next(name, out);
                value &= !mask;
            }
        }
        if value != 0 {
            next(b"0x", out);
            number::hex(out, value);
        }
    }
}

/// Values and their names.
#[derive(Clone, Debug)]
pub(super) struct SymbolTable {
    pub(super) value: Expression,
    pub(super) names: Vec<(u64, Vec<u8>)>,
}

impl SymbolTable {
    /// Appends the name of `value`; a value without one stands in hexadecimal, cut to its type.
    pub(super) fn write(&self, value: u64, out: &mut Vec<u8>) {
        match self.names.iter().find(|(key, _)| *key == value) {
            Some((_, name)) => harmless::append(out, name),
            None => {
                out.extend_from_slice(b"0x");
                number::hex(out, self.value.kind().cut(value));
            }
        }
    }
}
