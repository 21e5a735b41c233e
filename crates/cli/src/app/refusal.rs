//! A refusal of the parser below our own reading of words, in perf's sentences.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::words::{About, Mistake};

/// The mistake that the parser found.
pub(super) fn mistake(error: &clap::Error) -> Mistake {
    let option = text(error, ContextKind::InvalidArg).map(|shown| long_name(&shown));
    let Some(option) = option else {
        return plain(error);
    };
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let problem = match error.kind() {
        ErrorKind::UnknownArgument => {
            return Mistake {
                message: format!("  Error: unexpected word `{option}'\n"),
                about: About::All,
            };
        }
        ErrorKind::ValueValidation => match reason(error) {
            Some(reason) => format!("does not take `{value}': {reason}"),
            None => "expects a numerical value".to_owned(),
        },
        ErrorKind::InvalidValue => match list(error, ContextKind::ValidValue).join(", ") {
            // One that takes any value was given an empty one.
            known if known.is_empty() => "expects a value".to_owned(),
            known => format!("takes one of {known}, not `{value}'"),
        },
        ErrorKind::ArgumentConflict => {
            let others = list(error, ContextKind::PriorArg);
            let others: Vec<String> = others.iter().map(|shown| long_name(shown)).collect();
            format!("cannot be used with {}", others.join(" and "))
        }
        _ => return plain(error),
    };
    Mistake {
        message: format!(" Error: option `{option}' {problem}"),
        about: About::Long(option),
    }
}

/// The reason of a value's own parser; none of numbers.
fn reason(error: &clap::Error) -> Option<String> {
    use std::error::Error;
    let source = error.source()?;
    let number = source.is::<std::num::ParseIntError>() || source.is::<std::num::ParseFloatError>();
    (!number).then(|| source.to_string())
}

/// Any other mistake: the parser's first sentence.
fn plain(error: &clap::Error) -> Mistake {
    let said = error.to_string();
    let said = said.trim_start_matches("error: ");
    let first = said.split("\n\n").next().unwrap_or(said);
    Mistake {
        message: format!("  Error: {}\n", first.trim_end()),
        about: About::All,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

/// The name in an option as the parser shows it: `--max-stack <n>`.
fn long_name(shown: &str) -> String {
    let first = shown.split([' ', '=', '[']).next().unwrap_or(shown);
    match first.trim_start_matches('-') {
        "" => shown.to_owned(),
        name => name.to_owned(),
    }
}
