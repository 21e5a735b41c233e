//! `--help`: the manual page of a command as plain text, in the layout of `man`.

use std::fmt::Write;

use clap::{Arg, Command};

use crate::usage;

/// Columns of a page.
const WIDTH: usize = 80;
/// Columns before running text, and before the description of an option.
const INDENT: [usize; 2] = [7, 11];

/// The page of a command, given by its words.
pub(super) fn text(command: &Command, program: &str, path: &[String]) -> String {
    let name = format!("{program}-{}", path.join("-"));
    let mut page = head(&name, program);
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    section(&mut page, "NAME");
    paragraph(&mut page, &format!("{name} - {about}"), INDENT[0]);
    section(&mut page, "SYNOPSIS");
    for form in usage::forms(command, program, path) {
        let _ = writeln!(page, "       {form}");
    }
    section(&mut page, "DESCRIPTION");
    let long = command.get_long_about().map(ToString::to_string);
    for text in long.unwrap_or(format!("{about}.")).split("\n\n") {
        paragraph(&mut page, text, INDENT[0]);
    }
    section(&mut page, "OPTIONS");
    options(&mut page, command);
    commands(&mut page, command);
    let examples = command.get_after_help().map(ToString::to_string);
    if let Some(examples) = examples {
        section(&mut page, "EXAMPLES");
        for line in examples.lines().filter(|line| *line != "Examples:") {
            let _ = writeln!(page, "{}", format!("       {}", line.trim()).trim_end());
        }
    }
    if let Some(more) = command.get_after_long_help() {
        let _ = write!(page, "\n{more}");
    }
    section(&mut page, "SEE ALSO");
    paragraph(
        &mut page,
        &format!("{program}(1), docs/commands.md"),
        INDENT[0],
    );
    page
}

/// The first line: the name at both ends.
fn head(name: &str, program: &str) -> String {
    let title = format!("{}(1)", name.to_uppercase());
    let middle = format!("{program} Manual");
    let space = WIDTH.saturating_sub(2 * title.len() + middle.len()) / 2;
    format!("{title}{:space$}{middle}{:space$}{title}\n", "", "")
}

fn section(page: &mut String, title: &str) {
    let _ = writeln!(page, "\n{title}");
}

/// Words in lines of one width.
fn paragraph(page: &mut String, text: &str, indent: usize) {
    let mut line = String::new();
    for word in text.split_whitespace() {
        let full = indent + line.chars().count() + 1 + word.chars().count() > WIDTH;
        if full && !line.is_empty() {
            let _ = writeln!(page, "{:indent$}{line}", "");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        let _ = writeln!(page, "{:indent$}{line}", "");
    }
}

/// The options in their groups: those without a title come first.
fn options(page: &mut String, command: &Command) {
    let shown: Vec<&Arg> = usage::options(command).collect();
    let mut titles: Vec<Option<&str>> = vec![None];
    for option in &shown {
        if !titles.contains(&option.get_help_heading()) {
            titles.push(option.get_help_heading());
        }
    }
    for title in titles {
        if let Some(title) = title {
            let _ = writeln!(page, "   {title}");
        }
        for option in shown
            .iter()
            .filter(|option| option.get_help_heading() == title)
        {
            let _ = writeln!(page, "       {}", usage::names(option));
            paragraph(page, &usage::description(option), INDENT[1]);
            page.push('\n');
        }
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
}

/// The commands below a command.
fn commands(page: &mut String, command: &Command) {
    if !command.has_subcommands() {
        return;
    }
    section(page, "COMMANDS");
    for below in command.get_subcommands() {
        let _ = writeln!(page, "       {}", below.get_name());
        let about = below.get_about().map(ToString::to_string);
        paragraph(page, &about.unwrap_or_default(), INDENT[1]);
    }
}
