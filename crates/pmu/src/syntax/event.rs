//! One event.

use super::ast::{EventForm, EventSpec};
use super::modifiers::{Modifiers, event_modifiers};
use super::number::{parse_number, parse_raw};
use super::scanner::Scanner;
use super::{breakpoint, terms};
use crate::SyntaxProblem;

pub(super) fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '*' | '?' | '[' | ']' | '.' | '!' | '-')
}

/// Takes one event with the blanks around it, which perf keeps in the name.
pub(super) fn event<'t>(scanner: &mut Scanner<'t>) -> Result<EventSpec<'t>, SyntaxProblem> {
    let start = scanner.position();
    scanner.skip_spaces();
    let position = scanner.position();
    let mut event = if scanner.take_text("mem:") {
        let form = breakpoint::form(scanner)?;
        if scanner
            .peek()
            .is_some_and(|char| char.is_ascii_alphabetic())
        {
            // Modifiers may follow the access at once: `mem:0x1000:xu`.
            EventSpec {
                modifiers: event_modifiers(scanner)?,
                ..spec(position, form)
            }
        } else {
            tail(scanner, position, form)?
        }
    } else {
        named(scanner, position)?
    };
    scanner.skip_spaces();
    event.name = display_name(scanner.since(start), &event);
    Ok(event)
}

/// perf's name: the text as written, but a breakpoint's only up to its length.
fn display_name<'t>(text: &'t str, event: &EventSpec<'_>) -> &'t str {
    let cut = matches!(event.form, EventForm::Breakpoint { .. }) && event.terms.is_empty();
    if cut {
        text.split('/').next().unwrap_or(text)
    } else {
        text
    }
}

fn named<'t>(scanner: &mut Scanner<'t>, position: usize) -> Result<EventSpec<'t>, SyntaxProblem> {
    let name = scanner.take_while(is_name_char);
    if name.is_empty() {
        return Err(scanner.unexpected());
    }
    match scanner.peek() {
        Some(':') => after_colon(scanner, position, name),
        Some('/') => with_terms(
            scanner,
            position,
            parse_raw(name).map_or(EventForm::WithTerms(name), EventForm::Raw),
        ),
        _ => Ok(spec(position, plain(name))),
    }
}

fn plain(name: &str) -> EventForm<'_> {
    parse_raw(name).map_or(EventForm::Name(name), EventForm::Raw)
}

/// Takes what a colon begins: a config number, modifiers, or a tracepoint's event.
fn after_colon<'t>(
    scanner: &mut Scanner<'t>,
    position: usize,
    name: &'t str,
) -> Result<EventSpec<'t>, SyntaxProblem> {
    let before = scanner.clone();
    scanner.take(':');
    let colon = scanner.clone();
    let second = scanner.take_while(is_name_char);
    if let Some(kind) = parse_number(name).filter(|_| !second.is_empty()) {
        let kind = u32::try_from(kind).map_err(|_| SyntaxProblem::unrecognized(position))?;
        let config = parse_number(second).ok_or_else(|| colon.unexpected())?;
        return tail(scanner, position, EventForm::Numeric { kind, config });
    }
    if Modifiers::is_letters(second) {
        *scanner = before;
        return tail(scanner, position, plain(name));
    }
    tail(
        scanner,
        position,
        EventForm::Tracepoint {
            system: name,
            event: second,
        },
    )
}

/// Takes the end that any event may have: `:modifiers` or `/terms/modifiers`.
fn tail<'t>(
    scanner: &mut Scanner<'t>,
    position: usize,
    form: EventForm<'t>,
) -> Result<EventSpec<'t>, SyntaxProblem> {
    match scanner.peek() {
        Some('/') => with_terms(scanner, position, form),
        Some(':') => {
            scanner.take(':');
            Ok(EventSpec {
                modifiers: event_modifiers(scanner)?,
                ..spec(position, form)
            })
        }
        _ => Ok(spec(position, form)),
    }
}

fn with_terms<'t>(
    scanner: &mut Scanner<'t>,
    position: usize,
    form: EventForm<'t>,
) -> Result<EventSpec<'t>, SyntaxProblem> {
    let terms = terms::terms(scanner)?;
    Ok(EventSpec {
        terms,
        modifiers: event_modifiers(scanner)?,
        ..spec(position, form)
    })
}

fn spec(position: usize, form: EventForm<'_>) -> EventSpec<'_> {
    EventSpec {
        position,
        name: "",
        form,
        terms: Vec::new(),
        modifiers: Modifiers::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::BreakpointAccess;

    fn form(text: &str) -> EventForm<'_> {
        event(&mut Scanner::new(text)).unwrap().form
    }

    #[test]
    fn forms() {
        assert_eq!(form("cycles:u"), EventForm::Name("cycles"));
        assert_eq!(form("cycles:"), EventForm::Name("cycles"));
        assert_eq!(form("cpu/event=1/"), EventForm::WithTerms("cpu"));
        assert_eq!(form("r1a8:u"), EventForm::Raw(0x1a8));
        assert_eq!(form("0x1:0x2:u"), EventForm::Numeric { kind: 1, config: 2 });
        let tracepoint = EventForm::Tracepoint {
            system: "sched",
            event: "sched_*",
        };
        assert_eq!(form("sched:sched_*:u"), tracepoint);
        // No modifiers, so a tracepoint.
        assert_eq!(
            form("cpu-clock:x"),
            EventForm::Tracepoint {
                system: "cpu-clock",
                event: "x"
            }
        );
    }

    #[test]
    fn terms_and_modifiers() {
        let event = event(&mut Scanner::new("cpu/event=0xc0,inv,name='x:y=z,1'/ukp")).unwrap();
        let terms: Vec<_> = event
            .terms
            .iter()
            .map(|t| (t.name, t.position, t.value))
            .collect();
        assert_eq!(
            (terms[0].0, terms[0].1, terms[0].2.unwrap().position),
            ("event", 4, 10)
        );
        assert_eq!((terms[1].0, terms[1].2), ("inv", None));
        assert_eq!(terms[2].2.unwrap().text, "x:y=z,1");
        assert_eq!(
            event.modifiers,
            Modifiers {
                user: true,
                kernel: true,
                precise: 1,
                ..Modifiers::default()
            }
        );
    }

    fn read(text: &str) -> EventSpec<'_> {
        event(&mut Scanner::new(text)).unwrap()
    }

    #[test]
    fn breakpoints_have_address_length_access_and_modifiers() {
        let breakpoint = read("mem:0x1000/8:rw:u");
        let access = Some(BreakpointAccess {
            read: true,
            write: true,
            execute: false,
        });
        assert_eq!(
            breakpoint.form,
            EventForm::Breakpoint {
                address: 0x1000,
                length: Some(8),
                access
            }
        );
        assert!(breakpoint.modifiers.user);
        assert_eq!(breakpoint.name, "mem:0x1000");
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
        let problem = event(&mut Scanner::new("mem:0x1000:rr")).unwrap_err();
        assert_eq!(problem.position, 11);
    }
}
