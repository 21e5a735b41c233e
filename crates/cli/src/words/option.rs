//! The options of a command, found by a letter, a name or the beginning of a name.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// The options whose values are numbers or lists of them: blanks before a number mean nothing.
const NUMBERS: [&str; 10] = [
    "freq",
    "count",
    "mmap-pages",
    "delay",
    "max-stack",
    "column-widths",
    "pid",
    "tid",
    "cpu",
    "time",
];

/// The options whose number is 0 where they are taken back; others are as if they were not given.
const ZERO_IF_TAKEN_BACK: [&str; 1] = ["max-stack"];

/// Options that perf does not have and whose names begin as those of perf's do: they must be whole, so that an
/// abbreviation of perf's keeps its meaning (`--json` is `--json-output`, `--co` is `--control`).
const WHOLE: [&str; 2] = ["compare", "json-runs"];

/// The values that an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Values {
    /// None.
    None,
    /// One, which is attached or stands in the next word.
    One,
    /// One or none: only an attached one counts.
    Attached,
    /// One or none: the next word is one if it does not begin with `-`.
    IfNext,
}

/// The options that a name may stand for.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Named {
    /// None.
    None,
    /// This one; `--no-NAME` takes it back.
    One {
        /// The option's place.
        option: usize,
        /// The option is given, not taken back.
        is_set: bool,
    },
    /// At least two, by their names.
    Several(String, String),
}

struct Choice<'c> {
    /// Its values are numbers.
    is_number: bool,
    long: Option<&'c str>,
    /// Other long names, which must be whole.
    aliases: Vec<&'c str>,
    short: Option<char>,
    values: Values,
}

impl Choice<'_> {
    fn is_named(&self, wanted: &str) -> bool {
        self.long == Some(wanted) || self.aliases.contains(&wanted)
    }

    /// A name for it: the long one, else the letter.
    fn name(&self) -> Cow<'_, str> {
        match (self.long, self.short) {
            (Some(long), _) => Cow::Borrowed(long),
            (None, letter) => letter.map(String::from).unwrap_or_default().into(),
        }
    }

    /// The word that gives it: `--name=value`.
    fn word(&self, value: Option<&OsStr>) -> OsString {
        let dashes = if self.long.is_some() { "--" } else { "-" };
        let name = self.name();
        let value_length = value.map_or(0, |value| 1 + value.len());
        let mut word = OsString::with_capacity(dashes.len() + name.len() + value_length);
        word.push(dashes);
        word.push(&*name);
        if let Some(value) = value {
            word.push("=");
            word.push(value);
        }
        word
    }
}

/// All options of a command.
pub(super) struct Options<'c>(Vec<Choice<'c>>);

impl<'c> Options<'c> {
    /// Those that the command defines, and those that the one above defines for all.
    pub(super) fn of(command: &'c Command, above: &'c Command) -> Options<'c> {
        let of_all = above
            .get_arguments()
            .filter(|argument| argument.is_global_set());
        let all = command.get_arguments().chain(of_all);
        let options = all.filter(|argument| !argument.is_positional());
        Options(options.map(choice).collect())
    }

    /// The name of an option: equal for all words that give it.
    pub(super) fn name(&self, option: usize) -> Cow<'_, str> {
        self.0[option].name()
    }

    pub(super) fn values(&self, option: usize) -> Values {
        self.0[option].values
    }

    /// The one form of an option's word.
    pub(super) fn word(&self, option: usize, value: Option<&OsStr>) -> OsString {
        let choice = &self.0[option];
        let number = value.filter(|_| choice.is_number).and_then(OsStr::to_str);
        let number = number.map(without_blanks);
        choice.word(number.as_deref().map(OsStr::new).or(value))
    }

    /// What is left of an option that is taken back.
    pub(super) fn word_if_taken_back(&self, option: usize) -> Option<OsString> {
        let long = self.0[option].long?;
        ZERO_IF_TAKEN_BACK
            .contains(&long)
            .then(|| self.word(option, Some(OsStr::new("0"))))
    }

    pub(super) fn of_letter(&self, letter: char) -> Option<usize> {
        self.0
            .iter()
            .position(|choice| choice.short == Some(letter))
    }

    /// The option of a long name, which may be abbreviated and taken back.
    pub(super) fn named(&self, name: &str) -> Named {
        let exact = |wanted: &str| self.0.iter().position(|choice| choice.is_named(wanted));
        if let Some(option) = exact(name) {
            return Named::One {
                option,
                is_set: true,
            };
        }
        let taken_back = name.strip_prefix("no-").and_then(exact);
        if let Some(option) = taken_back.or_else(|| exact(&format!("no-{name}"))) {
            return Named::One {
                option,
                is_set: false,
            };
        }
        self.abbreviated(name)
    }

    fn abbreviated(&self, start: &str) -> Named {
        let may_be_short = |choice: &Choice| !choice.long.is_some_and(|long| WHOLE.contains(&long));
        let longs = self.0.iter().enumerate();
        let longs = longs.filter(|(_, choice)| may_be_short(choice));
        let mut found: Vec<(String, usize, bool)> = Vec::new();
        for (option, long) in longs.filter_map(|(at, choice)| Some((at, choice.long?))) {
            let negated = match long.strip_prefix("no-") {
                Some(positive) => positive.to_owned(),
                None => format!("no-{long}"),
            };
            for (text, is_set) in [(long.to_owned(), true), (negated, false)] {
                if !text.starts_with(start) {
                    continue;
                }
                match found.iter_mut().find(|(known, ..)| *known == text) {
                    Some(known) if is_set => *known = (text, option, true),
                    Some(_) => {}
                    None => found.push((text, option, is_set)),
                }
            }
        }
        match found.as_slice() {
            [] => Named::None,
            [(_, option, is_set)] => Named::One {
                option: *option,
                is_set: *is_set,
            },
            [.., (one, ..), (other, ..)] => Named::Several(one.clone(), other.clone()),
        }
    }
}

fn choice(argument: &Arg) -> Choice<'_> {
    let long = argument.get_long();
    Choice {
        is_number: long.is_some_and(|long| NUMBERS.contains(&long)),
        long,
        aliases: argument.get_all_aliases().unwrap_or_default(),
        short: argument.get_short(),
        values: values(argument),
    }
}

/// The values that an option takes.
fn values(argument: &Arg) -> Values {
    let may_be_absent = argument
        .get_num_args()
        .is_some_and(|range| range.min_values() == 0);
    if !argument.get_action().takes_values() {
        Values::None
    } else if !may_be_absent {
        Values::One
    } else if argument.is_require_equals_set() {
        Values::Attached
    } else {
        Values::IfNext
    }
}

/// A list without the blanks before each of its values.
fn without_blanks(list: &str) -> String {
    let values: Vec<&str> = list.split(',').map(str::trim_start).collect();
    values.join(",")
}
