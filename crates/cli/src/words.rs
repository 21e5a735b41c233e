//! The words of a command line as perf reads them: bundles of letters, values attached to a letter, abbreviated names,
//! `--no-NAME`. The definitions of the options say what there is; the result are words of one form, `--name=value`,
//! options first, in which nothing is left to guess.

mod option;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::Command;

use option::{Named, Options, Values};

/// The request that the words of a command make.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Reading {
    /// The command is to run with these words.
    Run(Vec<OsString>),
    /// `-h`: the options in short, those alone that these words are about, if there are some.
    Usage(Vec<String>),
    /// `--help`: the manual.
    Manual,
    /// `--list-opts`: the long options.
    ListOptions,
    /// `--list-cmds`: the commands below this one.
    ListCommands,
}

/// A word that cannot be followed.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Mistake {
    /// The sentence about it.
    pub(crate) message: String,
    /// The options that are shown with it.
    pub(crate) about: About,
}

/// The options that a mistake is about.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum About {
    /// Any.
    All,
    /// Those whose long names begin so.
    Long(String),
    /// That of this letter.
    Short(char),
}

/// Reads the words behind the name of a command. `above` defines the options of all commands.
///
/// # Errors
/// A word names no option, or more than one, or its value is missing.
pub(crate) fn read(
    command: &Command,
    above: &Command,
    words: &[OsString],
) -> Result<Reading, Mistake> {
    let mut reader = Reader::new(command, above, words);
    if let Some(question) = reader.options()? {
        return Ok(question);
    }
    Ok(Reading::Run(reader.words()))
}

/// Commands that may stand behind options of the command above them, also in short: `stat -x, rep`. At least so many
/// letters name one.
const BEHIND_OPTIONS: [&str; 2] = ["record", "report"];
const SHORTEST_NAME: usize = 3;

/// The words behind the name of a command that runs programs, with the name of a command below it moved to the
/// beginning where it stands behind options.
pub(crate) fn named_first<'w>(
    command: &Command,
    above: &Command,
    words: &'w [OsString],
) -> Cow<'w, [OsString]> {
    if !command.has_subcommands() {
        return Cow::Borrowed(words);
    }
    let mut reader = Reader::new(command, above, words);
    let is_run = reader.runs_a_program() && reader.options() == Ok(None);
    let place = words.len() - reader.positional.len();
    let word = reader.positional.first().filter(|_| is_run);
    let below = word.and_then(|word| below_in_short(command, word));
    let Some(name) = below.filter(|_| place == 0 || words[place - 1] != "--") else {
        return Cow::Borrowed(words);
    };
    let (before, behind) = (&words[..place], &words[place + 1..]);
    Cow::Owned([&[OsString::from(name)], before, behind].concat())
}

/// The command below that a word names, in full or in short.
fn below_in_short(command: &Command, word: &OsString) -> Option<&'static str> {
    let text = word.to_str().filter(|text| text.len() >= SHORTEST_NAME)?;
    let mut names = BEHIND_OPTIONS.into_iter();
    let name = names.find(|name| name.starts_with(text))?;
    command.find_subcommand(name).map(|_| name)
}

/// The command whose options a question is about: the last one below `command` that the words name.
pub(crate) fn called<'c>(command: &'c Command, words: &[OsString]) -> (&'c Command, Vec<String>) {
    let (mut at, mut path) = (command, Vec::new());
    let named = words
        .iter()
        .take_while(|word| !word.as_bytes().starts_with(b"-"));
    for word in named {
        let Some(below) = at.find_subcommand(word) else {
            break;
        };
        path.push(below.get_name().to_owned());
        at = below;
    }
    (at, path)
}

/// An option as it was given.
struct Given {
    option: usize,
    word: OsString,
}

/// No option is called so: it is a statement of SQL that begins with a comment.
fn begins_with_space(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_whitespace)
}

struct Reader<'a> {
    options: Options<'a>,
    command: &'a Command,
    words: &'a [OsString],
    next: usize,
    given: Vec<Given>,
    positional: Vec<OsString>,
}

impl<'a> Reader<'a> {
    fn new(command: &'a Command, above: &'a Command, words: &'a [OsString]) -> Reader<'a> {
        Reader {
            options: Options::of(command, above),
            command,
            words,
            next: 0,
            given: Vec::new(),
            positional: Vec::new(),
        }
    }

    /// Reads words until the options end; gives the question that they are, if they are one.
    fn options(&mut self) -> Result<Option<Reading>, Mistake> {
        let stops = self.command.has_subcommands() || self.runs_a_program();
        while let Some(word) = self.take() {
            let bytes = word.as_bytes();
            let question = match bytes {
                b"--" => {
                    self.positional.extend_from_slice(&self.words[self.next..]);
                    return Ok(None);
                }
                [b'-', b'-', name @ ..] if !begins_with_space(name) => self.long(name)?,
                [b'-', letter, ..] if *letter != b'-' => self.letters(&bytes[1..])?,
                _ => {
                    self.positional.push(word.clone());
                    if stops {
                        self.positional.extend_from_slice(&self.words[self.next..]);
                        return Ok(None);
                    }
                    None
                }
            };
            if question.is_some() {
                return Ok(question);
            }
        }
        Ok(None)
    }

    /// Returns whether the words behind the options are a program with its own.
    fn runs_a_program(&self) -> bool {
        let mut positionals = self.command.get_positionals();
        positionals.any(clap::Arg::is_trailing_var_arg_set)
    }

    fn take(&mut self) -> Option<&'a OsString> {
        let word = self.words.get(self.next)?;
        self.next += 1;
        Some(word)
    }

    /// Reads `--name` or `--name=value`.
    fn long(&mut self, text: &[u8]) -> Result<Option<Reading>, Mistake> {
        match text {
            b"help" => return Ok(Some(Reading::Manual)),
            b"help-all" => return Ok(Some(Reading::Usage(Vec::new()))),
            b"list-opts" => return Ok(Some(Reading::ListOptions)),
            b"list-cmds" => return Ok(Some(Reading::ListCommands)),
            _ => {}
        }
        let equals = text.iter().position(|&byte| byte == b'=');
        let (name, attached) = match equals {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let (option, is_set) = match self.options.named(&name) {
            Named::One { option, is_set } => (option, is_set),
            Named::Several(one, other) => {
                return Err(Mistake {
                    message: format!(
                        " Error: Ambiguous option: {name} (could be --{one} or --{other})\n"
                    ),
                    about: About::Long(name),
                });
            }
            Named::None => {
                return Err(Mistake {
                    message: format!("  Error: unknown option `{name}'\n"),
                    about: About::All,
                });
            }
        };
        let shown = Shown::Long(self.options.name(option).into_owned());
        if !is_set {
            if attached.is_some() {
                return Err(takes_no_value(&Shown::Long(name)));
            }
            let (options, name) = (&self.options, self.options.name(option));
            let is_other = |given: &Given| options.name(given.option) != name;
            self.given.retain(is_other);
            if let Some(word) = self.options.word_if_taken_back(option) {
                self.given.push(Given { option, word });
            }
            return Ok(None);
        }
        self.give(option, attached, &shown)?;
        Ok(None)
    }

    /// Reads letters behind one `-`; the first that takes a value takes the rest.
    fn letters(&mut self, text: &[u8]) -> Result<Option<Reading>, Mistake> {
        let mut rest = text;
        while let [letter, behind @ ..] = rest {
            let letter = char::from(*letter);
            let Some(option) = self.options.of_letter(letter) else {
                if letter == 'h' {
                    let words = self.words[self.next..].iter();
                    let words = words.map(|word| word.to_string_lossy().into_owned());
                    return Ok(Some(Reading::Usage(words.collect())));
                }
                return Err(Mistake {
                    message: format!("  Error: unknown switch `{letter}'\n"),
                    about: About::All,
                });
            };
            let takes_rest = self.options.values(option) != Values::None && !behind.is_empty();
            let attached = takes_rest.then_some(behind);
            self.give(option, attached, &Shown::Short(letter))?;
            rest = if takes_rest { &[] } else { behind };
        }
        Ok(None)
    }

    /// Adds an option with the value that is attached to it, or stands in the next word.
    fn give(
        &mut self,
        option: usize,
        attached: Option<&[u8]>,
        shown: &Shown,
    ) -> Result<(), Mistake> {
        let next = self.words.get(self.next);
        let value = match (self.options.values(option), attached) {
            (Values::None, Some(_)) => return Err(takes_no_value(shown)),
            (Values::None, None) | (Values::Attached, None) => None,
            (_, Some(value)) => Some(OsStr::from_bytes(value)),
            (Values::IfNext, None) if next.is_none_or(|next| next.as_bytes().starts_with(b"-")) => {
                None
            }
            (Values::One | Values::IfNext, None) => Some(
                self.take()
                    .ok_or_else(|| shown.mistake("requires a value"))?
                    .as_os_str(),
            ),
        };
        self.given.push(Given {
            option,
            word: self.options.word(option, value),
        });
        Ok(())
    }

    /// The words in their one form.
    fn words(self) -> Vec<OsString> {
        let has_values = self.runs_a_program() || !self.command.has_subcommands();
        let mut words: Vec<OsString> = self.given.into_iter().map(|given| given.word).collect();
        let mut positional = self.positional.into_iter();
        if has_values && positional.len() > 0 {
            words.push("--".into());
        }
        words.extend(&mut positional);
        words
    }
}

/// An option in a message.
enum Shown {
    Long(String),
    Short(char),
}

impl Shown {
    fn mistake(&self, problem: &str) -> Mistake {
        match self {
            Shown::Long(name) => Mistake {
                message: format!(" Error: option `{name}' {problem}"),
                about: About::Long(name.clone()),
            },
            Shown::Short(letter) => Mistake {
                message: format!(" Error: switch `{letter}' {problem}"),
                about: About::Short(*letter),
            },
        }
    }
}

fn takes_no_value(shown: &Shown) -> Mistake {
    shown.mistake("takes no value")
}

#[cfg(test)]
mod tests;
