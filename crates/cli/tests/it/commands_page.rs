//! The page of commands holds every option as the program describes it: `docs/commands.md` has a table between marks
//! for each command, which is its `--help`. `cargo xtask bless` rewrites the tables.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::support::stdout;

/// Opens a table; the command's words and ` -->` follow.
const OPEN: &str = "<!-- options: ";
const CLOSE: &str = "<!-- end of options -->";

#[test]
fn the_page_has_every_option_of_every_command() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (renewed, described) = renew(&text);
    if std::env::var_os("OXPERF_BLESS").is_some() {
        std::fs::write(&page, &renewed).unwrap();
        return;
    }
    let differs = text
        .lines()
        .zip(renewed.lines())
        .find(|(old, new)| old != new);
    assert_eq!(differs, None, "cargo xtask bless renews the page");
    for command in commands() {
        assert!(described.contains(&command), "{command} has no table");
    }
}

/// Writes all tables anew; returns the page and the commands that have one.
fn renew(text: &str) -> (String, Vec<String>) {
    let mut renewed = String::new();
    let mut described = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (command, after) = after.split_once(" -->").expect("a mark ends");
        let (_, after) = after.split_once(CLOSE).expect("a table ends");
        let table = table(&help(command));
        let _ = write!(renewed, "{before}{OPEN}{command} -->\n\n{table}\n{CLOSE}");
        described.push(command.to_owned());
        rest = after;
    }
    renewed.push_str(rest);
    (renewed, described)
}

/// Returns the words of every command that takes options of its own.
fn commands() -> Vec<String> {
    let mut commands = listed(&help(""));
    let nested = |command: &String| {
        let below = listed(&help(command));
        let words = below.iter().map(|name| format!("{command} {name}"));
        words.collect::<Vec<_>>()
    };
    let (parents, leaves): (Vec<String>, Vec<String>) = commands
        .drain(..)
        .partition(|name| !nested(name).is_empty());
    leaves
        .into_iter()
        .chain(parents.iter().flat_map(nested))
        .collect()
}

/// Returns the names below `Commands:` of a help.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| line.starts_with("  "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(command.split_whitespace())
        .arg("--help")
        .output()
        .unwrap();
    stdout(&output)
}

/// Makes a table of the options of a help; a group's title is a row.
fn table(help: &str) -> String {
    let mut table = String::from("| option | meaning |\n|---|---|\n");
    for line in help.lines() {
        if let Some((option, meaning)) = option(line) {
            let cells = [option, meaning].map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(table, "| `{}` | {} |", cells[0], cells[1]);
        } else if let Some(title) = group(line) {
            let _ = writeln!(table, "| **{title}** | |");
        }
    }
    table
}

/// Returns an option with its value, and its description.
fn option(line: &str) -> Option<(&str, &str)> {
    let text = line.strip_prefix("  ")?.trim_start();
    let (option, meaning) = text.split_once("  ").unwrap_or((text, ""));
    let is_option = option.starts_with('-') && !option.contains(" help");
    is_option.then_some((option, meaning.trim()))
}

/// Returns the title of a group of options.
fn group(line: &str) -> Option<&str> {
    let title = line.strip_suffix(':')?;
    let is_title = title.starts_with(|first: char| first.is_ascii_uppercase());
    (is_title && !["Options", "Commands", "Examples", "Arguments"].contains(&title))
        .then_some(title)
}
