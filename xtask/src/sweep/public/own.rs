//! Our own commands over a file: they may refuse it with a reason, and nothing else.

use std::path::Path;

use anyhow::Result;

use super::inputs::Input;
use crate::process::Ended;
use crate::sweep::{LIMITS, Options, read};

/// The commands that read a whole file.
const COMMANDS: [&[&str]; 3] = [
    &["report", "--header-only"],
    &["script"],
    &["report", "--stdio"],
];

/// Outcome of one file with one command.
pub(super) enum Fate {
    Read,
    /// Exit 255 and one line that says why.
    Refused(String),
    Bad(String),
}

/// Runs all commands over a file.
pub(super) fn try_commands(file: &Path, folder: &Path, options: &Options) -> Result<Vec<Fate>> {
    COMMANDS
        .iter()
        .map(|words| try_command(words, file, folder, options))
        .collect()
}

fn try_command(words: &[&str], file: &Path, folder: &Path, options: &Options) -> Result<Fate> {
    let (ended, message) = read(words, file, folder, &options.binary, LIMITS)?;
    Ok(judge(&ended, &message))
}

fn judge(ended: &Ended, stderr: &str) -> Fate {
    let reason = stderr.lines().find(|line| !line.trim().is_empty());
    match (ended.crash(), ended.status.code(), reason) {
        (Some(crash), ..) => Fate::Bad(format!("{crash}: {}", reason.unwrap_or("no message"))),
        (None, Some(0), _) => Fate::Read,
        (None, Some(255), Some(reason)) => Fate::Refused(reason.to_owned()),
        (None, Some(255), None) => Fate::Bad("exit 255 without a reason".to_owned()),
        (None, code, _) => Fate::Bad(format!("exit {code:?}: {}", reason.unwrap_or("no message"))),
    }
}

/// Prints what was refused and what misbehaved; `false` when something misbehaved.
pub(super) fn print(inputs: &[Input], fates: &[Vec<Fate>]) -> bool {
    let (mut read, mut refused, mut bad) = (0, 0, 0);
    for (input, fates) in inputs.iter().zip(fates) {
        for (command, fate) in COMMANDS.iter().zip(fates) {
            match fate {
                Fate::Read => read += 1,
                Fate::Refused(_) => refused += 1,
                Fate::Bad(_) => bad += 1,
            }
            print_fate(&input.name, command, fate);
        }
    }
    println!(
        "\npublic fixtures, {} files: {read} runs read, {refused} refused with a reason, {bad} BAD\n",
        inputs.len()
    );
    bad == 0
}

fn print_fate(name: &str, command: &[&str], fate: &Fate) {
    let command = command.join(" ");
    match fate {
        Fate::Read => {}
        Fate::Refused(reason) => println!("refused  {command:<20} {name}: {reason}"),
        Fate::Bad(why) => println!("BAD      {command:<20} {name}: {why}"),
    }
}
