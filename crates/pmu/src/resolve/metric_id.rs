//! The term `metric-id=`, by which a metric knows its events. It is no part of an event's name.

use crate::syntax::{EventSpec, Term};

/// The name of the term.
pub(super) const NAME: &str = "metric-id";
/// The characters that are written as `!0`, `!1` and so on, because they mean something between slashes.
const ENCODED: &str = ",-=@";

/// The id that the term's text stands for. What is no code stays as it is.
pub(super) fn decoded(text: &str) -> String {
    let mut id = String::with_capacity(text.len());
    let mut parts = text.split('!');
    id.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let mut rest = part.chars();
        let code = rest.next().and_then(|code| code.to_digit(10));
        match code.and_then(|code| ENCODED.chars().nth(code as usize)) {
            Some(character) => {
                id.push(character);
                id.push_str(rest.as_str());
            }
            None => {
                id.push('!');
                id.push_str(part);
            }
        }
    }
    id
}

/// An event's name, and whether it is a name alone, without terms.
pub(super) struct ShownName {
    pub(super) text: String,
    pub(super) is_alone: bool,
}

/// The name of an event without the term: `cpu/event=1,metric-id=a/u` is `cpu/event=1/u`, and `cycles/metric-id=a/u` is
/// `cycles:u`.
pub(super) fn name_without(event: &EventSpec<'_>) -> Option<ShownName> {
    let is_id = |term: &&Term| term.name == NAME && term.value.is_some();
    let term = event.terms.iter().find(is_id)?;
    let written = format!("{NAME}={}", term.value.as_ref()?.text);
    let name = &event.name;
    if event.terms.len() > 1 {
        return Some(ShownName {
            text: name.replacen(&format!(",{written}"), "", 1),
            is_alone: false,
        });
    }
    let (before, after) = name.split_once(&format!("/{written}/"))?;
    let text = match after {
        "" => before.to_owned(),
        modifiers => format!("{before}:{modifiers}"),
    };
    Some(ShownName {
        text,
        is_alone: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn ids_are_decoded() {
        assert_eq!(
            decoded("software!3task!1clock!0name!2a!3"),
            "software@task-clock,name=a@"
        );
        assert_eq!(decoded("a!9b!"), "a!9b!");
    }

    #[test]
    fn names_stay_without_the_term() {
        let shown = |text: &str| {
            let list = parse(text).unwrap();
            let name = list.specs().next().and_then(name_without);
            name.map(|name| (name.text, name.is_alone))
        };
        let named = |text: &str, is_alone| Some((text.to_owned(), is_alone));
        assert_eq!(
            shown("cpu-cycles/metric-id=cpu!1cycles/u"),
            named("cpu-cycles:u", true)
        );
        assert_eq!(
            shown("cpu/a,cmask=1,metric-id=cpu!3a!3/"),
            named("cpu/a,cmask=1/", false)
        );
        assert_eq!(shown("cpu/a/"), None);
    }
}
