//! The text between slashes.

use super::ast::{Term, TermValue};
use super::scanner::Scanner;
use crate::SyntaxProblem;

/// Takes terms with the slashes around them. The finding about a slash that is never closed is the slash.
pub(super) fn terms<'t>(scanner: &mut Scanner<'t>) -> Result<Vec<Term<'t>>, SyntaxProblem> {
    let opening = scanner.position();
    scanner.take('/');
    let found = until_slash(scanner);
    if scanner.is_at_end() {
        found.map_err(|_| SyntaxProblem::unrecognized(opening))
    } else {
        found
    }
}

fn until_slash<'t>(scanner: &mut Scanner<'t>) -> Result<Vec<Term<'t>>, SyntaxProblem> {
    let mut terms = Vec::new();
    if scanner.take('/') {
        return Ok(terms);
    }
    loop {
        scanner.skip_spaces();
        terms.push(term(scanner)?);
        skip_spaces_before_end(scanner);
        if scanner.take('/') {
            return Ok(terms);
        }
        if !scanner.take(',') {
            return Err(scanner.unexpected());
        }
    }
}

/// Takes blanks that a term's end follows; others are pointed at.
fn skip_spaces_before_end(scanner: &mut Scanner<'_>) {
    let mut ahead = scanner.clone();
    ahead.skip_spaces();
    if matches!(ahead.peek(), Some(',' | '/')) {
        *scanner = ahead;
    }
}

fn term<'t>(scanner: &mut Scanner<'t>) -> Result<Term<'t>, SyntaxProblem> {
    let position = scanner.position();
    let driver = scanner.take('@');
    let name = scanner.take_while(is_term_char);
    if name.is_empty() {
        return Err(scanner.unexpected());
    }
    let name = if driver {
        scanner.since(position)
    } else {
        name
    };
    let value = if scanner.take('=') {
        Some(value(scanner)?)
    } else {
        None
    };
    Ok(Term {
        name,
        position,
        value,
    })
}

fn value<'t>(scanner: &mut Scanner<'t>) -> Result<TermValue<'t>, SyntaxProblem> {
    let position = scanner.position();
    let quoted = scanner.take('\'');
    let text = scanner.take_while(|char| {
        if quoted {
            is_quotable(char)
        } else {
            is_value_char(char)
        }
    });
    if text.is_empty() || quoted && !scanner.take('\'') {
        return Err(scanner.unexpected());
    }
    Ok(TermValue { text, position })
}

fn is_term_char(char: char) -> bool {
    char.is_ascii_alphanumeric()
        || matches!(char, '_' | '*' | '?' | '[' | ']' | '.' | '!' | ':' | '-')
}

fn is_value_char(char: char) -> bool {
    char.is_ascii_graphic() && !",/='{}".contains(char)
}

fn is_quotable(char: char) -> bool {
    char.is_ascii_alphanumeric() || "!*,-.:=?[]_".contains(char)
}
