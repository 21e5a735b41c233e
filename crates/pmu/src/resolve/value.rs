//! The values of terms: numbers, switches, texts.

use crate::SyntaxProblem;
use crate::syntax::{Term, parse_number};

/// The position for a finding about the term's value.
pub(super) fn value_position(term: &Term<'_>) -> usize {
    term.value
        .as_ref()
        .map_or(term.position, |value| value.position)
}

/// The term's value as a number.
pub(super) fn number(term: &Term<'_>) -> Result<u64, SyntaxProblem> {
    let value = term
        .value
        .as_ref()
        .and_then(|value| parse_number(value.text));
    value.ok_or_else(|| SyntaxProblem::new(value_position(term), "expected numeric value"))
}

/// The term's value as a number; a bare name means 1.
pub(super) fn number_or_one(term: &Term<'_>) -> Result<u64, SyntaxProblem> {
    if term.value.is_none() {
        Ok(1)
    } else {
        number(term)
    }
}

/// The term's value as text, which a number is not.
pub(super) fn text<'t>(term: &Term<'t>) -> Result<&'t str, SyntaxProblem> {
    let value = term.value.map(|value| value.text);
    value
        .filter(|text| parse_number(text).is_none())
        .ok_or_else(|| SyntaxProblem::new(value_position(term), "expected string value"))
}

/// The term's value as a number of a smaller type; a bare name means 1.
pub(super) fn fitting<T: TryFrom<u64>>(term: &Term<'_>) -> Result<T, SyntaxProblem> {
    T::try_from(number_or_one(term)?)
        .map_err(|_| SyntaxProblem::new(value_position(term), "too big"))
}

/// 0 or 1; a bare name means 1.
pub(super) fn switch(term: &Term<'_>) -> Result<bool, SyntaxProblem> {
    match number_or_one(term)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(SyntaxProblem::new(value_position(term), "expected 0 or 1")),
    }
}
