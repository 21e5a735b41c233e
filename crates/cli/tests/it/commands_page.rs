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

/// Returns the names below `Commands:` of the program's help, or below `COMMANDS` of a command's.
fn listed(help: &str) -> Vec<String> {
    let lines = help
        .lines()
        .skip_while(|line| !["Commands:", "COMMANDS"].contains(&line.trim()))
        .skip(1);
    let lines: Vec<&str> = lines.take_while(|line| line.starts_with("   ")).collect();
    // A name stands further left than what is said of it.
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().map(indent).min();
    let names = lines.iter().filter(|line| Some(indent(line)) == least);
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
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

/// Makes a table of the options of a manual; a group's title is a row.
fn table(help: &str) -> String {
    let mut rows: Vec<(String, String)> = Vec::new();
    let lines = help.lines().skip_while(|line| *line != "OPTIONS").skip(1);
    for line in lines.take_while(|line| line.is_empty() || line.starts_with(' ')) {
        let text = line.trim_start();
        match line.len() - text.len() {
            _ if text.is_empty() => {}
            3 => rows.push((format!("**{text}**"), String::new())),
            7 => rows.push((format!("`{text}`"), String::new())),
            11 => {
                let (_, meaning) = rows.last_mut().expect("an option is described");
                if !meaning.is_empty() {
                    meaning.push(' ');
                }
                meaning.push_str(text);
            }
            indent => panic!("{indent} columns before {text}"),
        }
    }
    let mut table = String::from("| option | meaning |\n|---|---|\n");
    for (option, meaning) in rows {
        let cells = [option, meaning].map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(table, "| {} | {} |", cells[0], cells[1]);
    }
    table
}
