//! A tracepoint's print expression: parsed once per event, evaluated per record.
//!
//! The text after `print fmt:` is a printf format and C expressions over the record. Parsing gives literals and
//! conversions with their arguments; writing walks them with the record's bytes and parses nothing.
//!
//! The text is perf 7.2's, byte for byte, except where perf's is wrong about the record:
//! - Numbers follow C. perf reads fields without their sign and computes without signs in 64 bits, so that `ret < 0`
//!   never holds and a negative `s16` reads as 65533.
//! - `a - b - c` and `a & (b | c)` group as in C (perf's `timer:timer_start` shows `flags=D|P|I` for every timer).
//! - A name without a known value names nothing; perf takes it for -1, and shows the first such flag for 0.
//! - Negative numbers in tables of names match; a flag in bit 63 is not shown for 0.
//! - Width and precision hold for everything that `%s` shows, and a negative `*` aligns to the left.
//! - What perf gives up on but can be known is shown: tables that end without a name, `__print_ns_to_secs`, `ntohs`,
//!   `sizeof`, `*pointer`, `%*pbl`, `%*ph`.

mod convert;
mod ctype;
mod directive;
mod eval;
mod expression;
mod helpers;
mod lexer;
mod number;
mod parser;
mod pointer;
mod scan;
mod tables;
mod text;

use crate::bytes::WordSize;
use crate::field::FormatField;
use crate::format::EventFormat;
use directive::{Conversion, Directive, Width};
use expression::Expression;
use lexer::tokens;
use parser::Parser;
use scan::{Piece, split};

pub(crate) use eval::Record;

/// A print expression ready to be evaluated.
#[derive(Debug)]
pub(crate) struct PrintFormat {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Literal(Vec<u8>),
    Conversion {
        directive: Directive,
        width: Option<Expression>,
        precision: Option<Expression>,
        value: Expression,
    },
}

/// No event's text is longer; a hostile format that shows a record a thousand times over ends here.
const LONGEST: usize = 1 << 20;

impl PrintFormat {
    /// The print expression of `format`, or `None` when it is absent or not understood.
    pub(crate) fn parse(format: &EventFormat, word: WordSize) -> Option<PrintFormat> {
        let tokens = tokens(&format.print)?;
        let mut parser = Parser::new(&tokens, format, word);
        let text = parser.literal()?;
        let mut parts = Vec::new();
        for piece in split(&text) {
            parts.push(match piece {
                Piece::Literal(text) => Part::Literal(text),
                Piece::Directive(directive) => conversion(directive, &mut parser)?,
            });
        }
        parser.skip_arguments()?;
        Some(PrintFormat { parts })
    }

    /// Appends the record's text.
    pub(crate) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        let longest = out.len().saturating_add(LONGEST);
        for part in &self.parts {
            if out.len() > longest {
                return;
            }
            part.write(record, out);
        }
    }

    /// Appends an integer field as the expression shows it, with a `0x` that stands before it; whether the expression
    /// does show it by itself, and not as an address that may have a name.
    pub(crate) fn write_field(
        &self,
        field: &FormatField,
        record: &Record<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let shown = self.parts.iter().position(|part| {
            matches!(part, Part::Conversion { directive, value, .. }
            if !matches!(directive.conversion, Conversion::Pointer(_)) && value.is_only(field))
        });
        let Some(at) = shown else { return false };
        let before = at.checked_sub(1).and_then(|before| self.parts.get(before));
        if matches!(before, Some(Part::Literal(text)) if text.ends_with(b"0x")) {
            out.extend_from_slice(b"0x");
        }
        self.parts[at].write(record, out);
        true
    }
}

impl Part {
    fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        match self {
            Part::Literal(text) => out.extend_from_slice(text),
            Part::Conversion {
                directive,
                width,
                precision,
                value,
            } => {
                let width = width.as_ref().map(|width| record.number(width) as i32);
                let precision = precision
                    .as_ref()
                    .map(|precision| record.number(precision) as i32);
                convert::write(out, &directive.resolve(width, precision), value, record);
            }
        }
    }
}

fn conversion(directive: Directive, parser: &mut Parser<'_>) -> Option<Part> {
    let width = star(directive.width, parser)?;
    let precision = star(directive.precision, parser)?;
    let value = parser.argument()?;
    Some(Part::Conversion {
        directive,
        width,
        precision,
        value,
    })
}

/// The argument that a `*` takes; the outer `None` when it is missing.
fn star(width: Option<Width>, parser: &mut Parser<'_>) -> Option<Option<Expression>> {
    match width {
        Some(Width::Argument) => parser.argument().map(Some),
        _ => Some(None),
    }
}

#[cfg(test)]
mod tests;
