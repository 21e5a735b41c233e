//! `complete`: answers the scripts of `completions`, which ask it at each press of the key. People have no use for it.
//!
//! The first line says what follows (see [`crate::completion::Answer`]), each other line is a word, a tab, and what the
//! word means.

mod arguments;

use crate::app;
use crate::cmd::Entry;
use crate::completion;
use crate::failure::{Failure, code};
use crate::output::print_text;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "complete",
    command: arguments::command,
    run: |matches, invocation| run(&arguments::words(matches), &invocation.program),
    shares_work: false,
};

/// Answers for the words of a command line behind the program's name; the last is the one to complete.
fn run(words: &[String], program: &str) -> Result<i32, Failure> {
    let answer = completion::answer(&app::whole_command(program), words);
    print_text(answer.to_string().as_bytes());
    Ok(code::SUCCESS)
}
