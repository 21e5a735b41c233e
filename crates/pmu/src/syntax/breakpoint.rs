//! `mem:ADDRESS[/LENGTH][:ACCESS]`.

use super::ast::{Access, EventForm, EventSpec};
use super::event;
use super::number::parse_number;
use super::scanner::Scanner;
use crate::Problem;

/// Takes what follows `mem:`.
pub(super) fn breakpoint(scanner: &mut Scanner<'_>, position: usize) -> Result<EventSpec, Problem> {
    let address = number(scanner)?;
    let length = length(scanner)?;
    let access = access(scanner)?;
    event::tail(
        scanner,
        position,
        EventForm::Breakpoint {
            address,
            length,
            access,
        },
    )
}

fn number(scanner: &mut Scanner<'_>) -> Result<u64, Problem> {
    let position = scanner.position();
    let digits = scanner.take_while(|char| char.is_ascii_alphanumeric());
    parse_number(digits).ok_or_else(|| Problem::unrecognized(position))
}

/// A slash followed by a digit begins a length, otherwise terms.
fn length(scanner: &mut Scanner<'_>) -> Result<Option<u64>, Problem> {
    let mut ahead = scanner.clone();
    if !ahead.take('/') || !ahead.peek().is_some_and(|char| char.is_ascii_digit()) {
        return Ok(None);
    }
    *scanner = ahead;
    number(scanner).map(Some)
}

/// A colon followed by nothing but `r`, `w` and `x` begins an access, otherwise modifiers.
fn access(scanner: &mut Scanner<'_>) -> Result<Option<Access>, Problem> {
    let mut ahead = scanner.clone();
    if !ahead.take(':') {
        return Ok(None);
    }
    let position = ahead.position();
    let letters = ahead.take_while(|char| char.is_ascii_alphanumeric());
    if letters.is_empty() || !letters.chars().all(|letter| "rwx".contains(letter)) {
        return Ok(None);
    }
    *scanner = ahead;
    parse_access(letters)
        .map(Some)
        .ok_or_else(|| Problem::new(position, "Each access may be named once"))
}

fn parse_access(letters: &str) -> Option<Access> {
    let mut access = Access::default();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> EventSpec {
        event::event(&mut Scanner::new(text)).unwrap()
    }

    #[test]
    fn address_length_access_modifiers() {
        let event = read("mem:0x1000/8:rw:u");
        let access = Some(Access {
            read: true,
            write: true,
            execute: false,
        });
        assert_eq!(
            event.form,
            EventForm::Breakpoint {
                address: 0x1000,
                length: Some(8),
                access
            }
        );
        assert!(event.modifiers.user);
        assert_eq!(event.name, "mem:0x1000");
        assert_eq!(
            read("mem:4096:u").form,
            EventForm::Breakpoint {
                address: 4096,
                length: None,
                access: None
            }
        );
        assert_eq!(read("mem:0x1000:w").name, "mem:0x1000:w");
        assert_eq!(read("mem:0x1000/name=a/u").terms.len(), 1);
    }

    #[test]
    fn an_access_twice_is_an_error() {
        let problem = event::event(&mut Scanner::new("mem:0x1000:rr")).unwrap_err();
        assert_eq!(problem.position, 11);
    }
}
