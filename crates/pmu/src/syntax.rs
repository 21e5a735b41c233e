//! The grammar of event texts. Nothing is looked up here.
//!
//! ```text
//! list      := item (',' item)*
//! item      := event | [name] '{' event (',' event)* '}' [':' modifiers]
//! event     := name [':' modifiers] | name '/' terms '/' [modifiers]
//!            | rHEX ... | TYPE ':' CONFIG ... | SYSTEM ':' EVENT ... | 'mem:' ADDR ['/' LEN] [':' rwx] ...
//! terms     := [term (',' term)*]
//! term      := name ['=' value]
//! ```

mod ast;
mod breakpoint;
mod event;
mod modifiers;
mod number;
mod scanner;
mod terms;

pub use ast::{
    BreakpointAccess, EventForm, EventList, EventSpec, GroupSpec, ListItem, Term, TermValue,
};
pub(crate) use modifiers::MAX_PRECISE;
pub use modifiers::Modifiers;
pub(crate) use number::{parse_number, parse_raw_term};

use crate::{SyntaxError, SyntaxProblem};
use scanner::Scanner;

/// Reads one `-e` text.
///
/// # Errors
/// The position at which it is no event text, and the reason.
pub fn parse(text: &str) -> Result<EventList<'_>, SyntaxError> {
    let items = parse_items(text).map_err(|problem| SyntaxError::new(text, vec![problem]))?;
    Ok(EventList { text, items })
}

fn parse_items(text: &str) -> Result<Vec<ListItem<'_>>, SyntaxProblem> {
    let mut scanner = Scanner::new(text);
    let mut items = vec![item(&mut scanner)?];
    while scanner.take(',') {
        items.push(item(&mut scanner)?);
    }
    if scanner.is_at_end() {
        Ok(items)
    } else {
        Err(scanner.unexpected())
    }
}

fn item<'t>(scanner: &mut Scanner<'t>) -> Result<ListItem<'t>, SyntaxProblem> {
    match group_opening(scanner) {
        Some(name) => group(scanner, name).map(ListItem::Group),
        None => event::event(scanner).map(ListItem::Event),
    }
}

/// Takes `name{` or `{`, if that is what follows, and returns the name.
fn group_opening<'t>(scanner: &mut Scanner<'t>) -> Option<Option<&'t str>> {
    let mut ahead = scanner.clone();
    ahead.skip_spaces();
    let name = ahead.take_while(event::is_name_char);
    ahead.skip_spaces();
    if !ahead.take('{') {
        return None;
    }
    *scanner = ahead;
    Some((!name.is_empty()).then_some(name))
}

fn group<'t>(
    scanner: &mut Scanner<'t>,
    name: Option<&'t str>,
) -> Result<GroupSpec<'t>, SyntaxProblem> {
    let mut events = vec![event::event(scanner)?];
    while scanner.take(',') {
        events.push(event::event(scanner)?);
    }
    if !scanner.take('}') {
        return Err(scanner.unexpected());
    }
    let (modifiers_position, modifiers) = if scanner.take(':') {
        modifiers::group_modifiers(scanner)?
    } else {
        (scanner.position(), Modifiers::default())
    };
    scanner.skip_spaces();
    Ok(GroupSpec {
        name,
        events,
        modifiers,
        modifiers_position,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of what was read, one event a word.
    fn shown(text: &str) -> String {
        let list = parse(text).unwrap();
        let words = list.items.iter().map(|item| match item {
            ListItem::Event(event) => event.name.to_owned(),
            ListItem::Group(group) => {
                let names: Vec<&str> = group.events.iter().map(|event| event.name).collect();
                format!("{}<{}>", group.name.unwrap_or(""), names.join(" "))
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The position and the reason of a refusal.
    fn refused(text: &str) -> (usize, String) {
        let error = parse(text).unwrap_err();
        (
            error.problems[0].position,
            error.problems[0].message.clone(),
        )
    }

    #[test]
    fn lists_and_groups() {
        assert_eq!(
            shown("cycles:u,cpu/event=1,umask=2/k,r1a8"),
            "cycles:u cpu/event=1,umask=2/k r1a8"
        );
        assert_eq!(shown("{a:u,b}:S,c"), "<a:u b> c");
        assert_eq!(shown("grp{a,mem:0x10/8:w}"), "grp<a mem:0x10>");
        // perf keeps blanks around a name.
        assert_eq!(shown("a, b"), "a  b");
    }

    #[test]
    fn unexpected_input_points_before_it() {
        for (text, position) in [
            ("", 1),
            (",cpu-clock", 1),
            ("cpu-clock,,page-faults", 9),
            ("{}", 0),
            ("{cpu-clock,page-faults}:z", 23),
            ("cpu-clock:u:k", 10),
            ("cpu/event=1/z", 11),
            ("cpu/event=1/:u", 11),
            ("cpu/name=/", 8),
            ("cpu/=1/", 3),
            ("cpu/event==1/", 9),
            ("cpu/event=1,/", 11),
            ("1:0xzz", 1),
            ("cpu/cpu-cycles/period=5/", 14),
            ("cpu/name=a b/", 9),
            ("{a", 1),
            ("{a,{b}}", 2),
            ("a}", 0),
        ] {
            assert_eq!(
                refused(text),
                (position, "Unrecognized input".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn modifier_errors_are_perfs() {
        for (text, position, message) in [
            ("cpu-clock:uu", 11, "Duplicate modifier 'u' (user)"),
            ("cpu-clock:pppp", 13, "Maximum precise value is 3"),
            ("cpu-clock:W", 10, "Weak modifier is for use with groups"),
            (
                "{cpu-clock,page-faults}:uu",
                25,
                "Duplicate modifier 'u' (user)",
            ),
        ] {
            assert_eq!(refused(text), (position, message.to_owned()), "{text}");
        }
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "a", ":", "/", "{", "}", ",", "=", "'", "mem:", "0x1", "u", " ", "é", "*", "r1",
        ];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    for fourth in pieces {
                        let text = [first, second, third, fourth].concat();
                        if let Err(error) = parse(&text) {
                            assert!(!error.to_string().is_empty());
                        }
                    }
                }
            }
        }
    }
}
