//! A command line as far as it is typed: the command, and what the next word may be.

use clap::{Arg, Command};

/// What the words before say.
pub(super) struct Line<'a> {
    /// The innermost command that is named.
    pub(super) command: &'a Command,
    /// How many words of that command are no options.
    pub(super) positionals: usize,
    /// What the next word is.
    pub(super) place: Place<'a>,
}

/// A place on a command line.
pub(super) enum Place<'a> {
    /// The value of an option.
    Value(&'a Arg),
    /// A word of the line of a program that begins with this word.
    Workload(usize),
    /// Anything else.
    Word {
        /// True behind `--`.
        options_ended: bool,
    },
}

impl<'a> Line<'a> {
    /// Reads words, those behind the program's name.
    pub(super) fn read(root: &'a Command, words: &[String]) -> Line<'a> {
        let mut line = Line {
            command: root,
            positionals: 0,
            place: Place::Word {
                options_ended: false,
            },
        };
        for (number, word) in words.iter().enumerate() {
            line.take(number, word);
        }
        line
    }

    fn take(&mut self, number: usize, word: &str) {
        match self.place {
            Place::Workload(_) => {}
            Place::Value(_) => {
                self.place = Place::Word {
                    options_ended: false,
                }
            }
            Place::Word {
                options_ended: false,
            } if word == "--" => {
                self.place = Place::Word {
                    options_ended: true,
                };
            }
            Place::Word {
                options_ended: false,
            } if word.len() > 1 && word.starts_with('-') => {
                if let Some(option) = option_that_waits(self.command, word) {
                    self.place = Place::Value(option);
                }
            }
            Place::Word { .. } => self.take_word(number, word),
        }
    }

    fn take_word(&mut self, number: usize, word: &str) {
        let below = self.command.find_subcommand(word);
        if let Some(below) = below.filter(|_| self.positionals == 0) {
            self.command = below;
            return;
        }
        let positional = self.command.get_positionals().nth(self.positionals);
        if positional.is_some_and(Arg::is_trailing_var_arg_set) {
            self.place = Place::Workload(number);
        }
        self.positionals += 1;
    }
}

/// The option of these words whose value is the next word.
fn option_that_waits<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let option = match word.strip_prefix("--") {
        Some(name) if name.contains('=') => None,
        Some(name) => long_option(command, name),
        None => last_letter(command, word.trim_start_matches('-')),
    };
    option.filter(|option| waits(option))
}

/// The option of the last letter, unless one before takes the rest as its value.
fn last_letter<'a>(command: &'a Command, letters: &str) -> Option<&'a Arg> {
    let mut letters = letters.chars().peekable();
    while let Some(letter) = letters.next() {
        let option = command
            .get_arguments()
            .find(|option| option.get_short() == Some(letter))?;
        if letters.peek().is_none() {
            return Some(option);
        }
        if option.get_action().takes_values() {
            return None;
        }
    }
    None
}

/// The option of this name, or the only one whose name begins so.
pub(super) fn long_option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let named = |option: &&Arg| option.get_long() == Some(name);
    let begins = |option: &&Arg| option.get_long().is_some_and(|long| long.starts_with(name));
    let mut options = command.get_arguments().filter(begins);
    let exact = command.get_arguments().find(named);
    exact.or_else(|| options.next().filter(|_| options.next().is_none()))
}

/// True if the option takes the next word as its value.
fn waits(option: &Arg) -> bool {
    let needs_value = option
        .get_num_args()
        .is_some_and(|range| range.min_values() > 0);
    option.get_action().takes_values() && needs_value && !option.is_require_equals_set()
}
