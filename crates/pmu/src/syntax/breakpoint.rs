//! `mem:ADDRESS[/LENGTH][:ACCESS]`.

use super::ast::{BreakpointAccess, EventForm};
use super::number::parse_number;
use super::scanner::Scanner;
use crate::SyntaxProblem;

/// Takes the address, length and access that follow `mem:`.
pub(super) fn form(scanner: &mut Scanner<'_>) -> Result<EventForm<'static>, SyntaxProblem> {
    Ok(EventForm::Breakpoint {
        address: number(scanner)?,
        length: length(scanner)?,
        access: access(scanner)?,
    })
}

fn number(scanner: &mut Scanner<'_>) -> Result<u64, SyntaxProblem> {
    let position = scanner.position();
    let digits = scanner.take_while(|char| char.is_ascii_alphanumeric());
    parse_number(digits).ok_or_else(|| SyntaxProblem::unrecognized(position))
}

/// A slash followed by a digit begins a length, otherwise terms.
fn length(scanner: &mut Scanner<'_>) -> Result<Option<u64>, SyntaxProblem> {
    let mut ahead = scanner.clone();
    if !ahead.take('/') || !ahead.peek().is_some_and(|char| char.is_ascii_digit()) {
        return Ok(None);
    }
    *scanner = ahead;
    number(scanner).map(Some)
}

/// A colon followed by `r`, `w` or `x` begins an access, otherwise modifiers.
fn access(scanner: &mut Scanner<'_>) -> Result<Option<BreakpointAccess>, SyntaxProblem> {
    let mut ahead = scanner.clone();
    if !ahead.take(':') {
        return Ok(None);
    }
    let position = ahead.position();
    let letters = ahead.take_while(|char| "rwx".contains(char));
    if letters.is_empty() {
        return Ok(None);
    }
    *scanner = ahead;
    parse_access(letters)
        .map(Some)
        .ok_or_else(|| SyntaxProblem::new(position, "Each access may be named once"))
}

fn parse_access(letters: &str) -> Option<BreakpointAccess> {
    let mut access = BreakpointAccess::default();
    for letter in letters.chars() {
        let flag = match letter {
            'r' => &mut access.read,
            'w' => &mut access.write,
            _ => &mut access.execute,
        };
        if std::mem::replace(flag, true) {
            return None;
        }
    }
    Some(access)
}
