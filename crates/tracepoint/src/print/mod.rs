//! A tracepoint's print expression: parsed once per event, evaluated per record.
//!
//! The text after `print fmt:` is a printf format and C expressions over the record. Parsing gives literals and
//! conversions with their arguments; writing walks them with the record's bytes and parses nothing.
//!
//! Numbers follow C: a field keeps its sign, and operands meet in their common type. (perf reads every field without its
//! sign and computes without signs in 64 bits.)

mod convert;
mod ctype;
mod directive;
mod eval;
mod expression;
mod lexer;
mod number;
mod parser;
mod pointer;
mod tables;
mod text;

use crate::bytes::WordSize;
use crate::format::Format;
use directive::{Directive, Piece, Width, split};
use expression::Expression;
use lexer::tokens;
use parser::Parser;

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
    pub(crate) fn parse(format: &Format, word: WordSize) -> Option<PrintFormat> {
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
            match part {
                Part::Literal(text) => out.extend_from_slice(text),
                Part::Conversion { directive, width, precision, value } => {
                    let width = width.as_ref().map(|width| record.number(width) as i32);
                    let precision = precision.as_ref().map(|precision| record.number(precision) as i32);
                    convert::write(out, &directive.resolve(width, precision), value, record);
                }
            }
        }
    }
}

fn conversion(directive: Directive, parser: &mut Parser<'_>) -> Option<Part> {
    let width = star(directive.width, parser)?;
    let precision = star(directive.precision, parser)?;
    let value = parser.argument()?;
    Some(Part::Conversion { directive, width, precision, value })
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
