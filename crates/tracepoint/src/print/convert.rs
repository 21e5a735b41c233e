//! One printf conversion of one argument.

use super::directive::{Conversion, Layout};
use super::eval::Record;
use super::expression::Expression;
use super::number::{self, Spelling};
use super::{pointer, text};
use crate::harmless;

/// Appends `value` as `layout` says.
pub(super) fn write(out: &mut Vec<u8>, layout: &Layout, value: &Expression, record: &Record<'_>) {
    match layout.conversion {
        Conversion::Signed => signed(out, layout, record.number(value), record),
        Conversion::Unsigned => unsigned(out, layout, plain(10), cut(value, layout, record)),
        Conversion::Octal => unsigned(out, layout, plain(8), cut(value, layout, record)),
        Conversion::Hex { upper } => {
            let spelling = Spelling { upper, ..plain(16) };
            unsigned(out, layout, spelling, cut(value, layout, record));
        }
        Conversion::Char => within(out, layout, |out| {
            harmless::append_byte(out, record.number(value) as u8)
        }),
        Conversion::Text => clipped(out, layout, |out| text::write(out, value, record)),
        Conversion::Pointer(kind) => pointer::write(out, kind, layout, value, record),
    }
}

fn plain(radix: u64) -> Spelling {
    Spelling {
        radix,
        upper: false,
        sign: b"",
    }
}

fn signed(out: &mut Vec<u8>, layout: &Layout, value: u64, record: &Record<'_>) {
    let value = layout
        .length
        .kind(usize::from(record.word.bytes()))
        .widen(value) as i64;
    let sign = if value < 0 { b"-" } else { layout.plus };
    if layout.is_plain() {
        out.extend_from_slice(sign);
        return number::decimal(out, value.unsigned_abs());
    }
    number::padded(
        out,
        value.unsigned_abs(),
        Spelling { sign, ..plain(10) },
        layout,
    );
}

fn unsigned(out: &mut Vec<u8>, layout: &Layout, spelling: Spelling, value: u64) {
    match spelling {
        Spelling { radix: 10, .. } if layout.is_plain() => number::decimal(out, value),
        Spelling {
            radix: 16,
            upper: false,
            ..
        } if layout.is_plain() => number::hex(out, value),
        _ => number::padded(out, value, spelling, layout),
    }
}

/// The value without its sign: first cut to its own type, then to the directive's.
fn cut(value: &Expression, layout: &Layout, record: &Record<'_>) -> u64 {
    layout
        .length
        .kind(usize::from(record.word.bytes()))
        .cut(value.kind().cut(record.number(value)))
}

/// Appends what `write` writes, filled up to the width.
fn within(out: &mut Vec<u8>, layout: &Layout, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    write(out);
    number::pad(out, start, layout);
}

/// Appends what `write` writes, cut to the precision and filled up to the width.
fn clipped(out: &mut Vec<u8>, layout: &Layout, write: impl FnOnce(&mut Vec<u8>)) {
    within(out, layout, |out| {
        let start = out.len();
        write(out);
        if let Some(precision) = layout.precision {
            out.truncate(start.saturating_add(precision));
        }
    });
}
