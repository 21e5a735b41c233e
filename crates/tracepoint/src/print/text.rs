//! The text an expression is in one record.

use super::eval::Record;
use super::expression::Expression;
use super::number;
use crate::bytes::until_nul;
use crate::field::{FieldKind, FormatField};
use crate::harmless;

/// Appends the text of `value`; a number without text stands in decimal.
pub(super) fn write(out: &mut Vec<u8>, value: &Expression, record: &Record<'_>) {
    match value {
        Expression::Literal(text) => harmless::append(out, text),
        Expression::Data(_) => data(out, record.data(value)),
        Expression::Field(field) => field_text(out, field, value, record),
        Expression::Choice(parts) => write(out, record.chosen(parts), record),
        Expression::Cast(_, operand) => write(out, operand, record),
        Expression::Flags(table) => {
            table.write(table.value.kind().cut(record.number(&table.value)), out)
        }
        Expression::Symbols(table) => table.write(record.number(&table.value), out),
        Expression::Hex {
            data,
            length,
            apart,
        } => {
            hex(
                out,
                record.data_of_length(data, record.number(length)),
                *apart,
            );
        }
        Expression::List(parts) => list(out, parts, record),
        Expression::Bits { field, ranges } => bits(out, field, *ranges, record),
        _ => number::decimal(out, record.number(value)),
    }
}

fn data(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    harmless::append(out, until_nul(bytes.unwrap_or_default()));
}

fn field_text(out: &mut Vec<u8>, field: &FormatField, value: &Expression, record: &Record<'_>) {
    match field.kind {
        FieldKind::Integer => number::decimal(out, record.number(value)),
        FieldKind::Pointer => address(out, record.number(value), record),
        _ => data(out, record.data(value)),
    }
}

/// A string of the kernel by its address; an address without a string stands in hexadecimal.
fn address(out: &mut Vec<u8>, address: u64, record: &Record<'_>) {
    match record.strings.get(address) {
        Some(text) => harmless::append(out, text),
        None => number::hex(out, address),
    }
}

/// Appends bytes as pairs of hexadecimal digits.
pub(super) fn hex(out: &mut Vec<u8>, bytes: &[u8], apart: bool) {
    for (place, &byte) in bytes.iter().enumerate() {
        if apart && place > 0 {
            out.push(b' ');
        }
        number::hex_byte(out, byte);
    }
}

fn list(out: &mut Vec<u8>, [data, count, size]: &[Expression; 3], record: &Record<'_>) {
    let size = record.number(size);
    out.push(b'{');
    if let 1 | 2 | 4 | 8 = size {
        let bytes = record.data_of_length(data, record.number(count).saturating_mul(size));
        for (place, element) in bytes.chunks_exact(size as usize).enumerate() {
            out.extend_from_slice(if place > 0 { b",0x" } else { b"0x" });
            number::hex(out, record.order.unsigned(element).unwrap_or(0));
        }
    }
    out.push(b'}');
}

fn bits(out: &mut Vec<u8>, field: &FormatField, ranges: bool, record: &Record<'_>) {
    let bytes = field.bytes(record.bytes, record.order).unwrap_or_default();
    if ranges {
        bit_ranges(out, bytes, record)
    } else {
        bit_words(out, bytes, record)
    }
}

/// Appends the numbers of the bits set in `bytes` (words of the recorded kernel): `0,4-7,64`.
pub(super) fn bit_ranges(out: &mut Vec<u8>, bytes: &[u8], record: &Record<'_>) {
    let start = out.len();
    let mut set = (0..bytes.len() * 8)
        .filter(|&bit| is_set(bytes, bit, record))
        .peekable();
    while let Some(first) = set.next() {
        let mut last = first;
        while let Some(next) = set.next_if_eq(&(last + 1)) {
            last = next;
        }
        if out.len() > start {
            out.push(b',');
        }
        number::decimal(out, first as u64);
        if last > first {
            out.push(b'-');
            number::decimal(out, last as u64);
        }
    }
}

/// Appends the bits of `bytes` as words of 32 bits, the highest first.
pub(super) fn bit_words(out: &mut Vec<u8>, bytes: &[u8], record: &Record<'_>) {
    let start = out.len();
    for word in (0..bytes.len().div_ceil(4)).rev() {
        if out.len() > start {
            out.push(b',');
        }
        let bit = |number: usize| u64::from(is_set(bytes, word * 32 + number, record)) << number;
        number::hex_wide(out, (0..32).map(bit).sum(), 8);
    }
}

/// Returns whether bit `number` is set in a mask of the recorded kernel's words.
fn is_set(bytes: &[u8], number: usize, record: &Record<'_>) -> bool {
    let word = usize::from(record.word.bytes());
    let (first, within) = (number / 8 / word * word, number / 8 % word);
    let byte = match record.order {
        crate::bytes::ByteOrder::Little => first + within,
        crate::bytes::ByteOrder::Big => first + word - 1 - within,
    };
    bytes
        .get(byte)
        .is_some_and(|byte| byte >> (number % 8) & 1 == 1)
}
