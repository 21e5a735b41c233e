//! The options of `config`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{ConfigOptions, Place, Wish};
use crate::failure::Failure;

/// The form of a command line, below an error about its options.
const SYNOPSIS: &str = "config [<file-option>] [options] [section.name[=value] ...]";

/// The options.
pub(super) fn command() -> Command {
    let flag = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("config")
        .about("Show and set values of perf's configuration files")
        .args([
            flag("list", "Show all values").short('l'),
            flag(
                "show-origin",
                "Show with each value the file and the line that it stands in",
            ),
            flag("user", "Read and write ~/.perfconfig alone"),
            flag("system", "Read and write /etc/perfconfig alone"),
            Arg::new("values")
                .value_name("NAME[=VALUE]")
                .num_args(0..)
                .help(
                    "Values to show, and to set, such as report.children=false [default: show all]",
                ),
        ])
}

/// The options as values.
///
/// # Errors
/// They contradict each other, or a name has no section or no value.
pub(super) fn options(matches: &ArgMatches, program: &str) -> Result<ConfigOptions, Failure> {
    let refused = |reason| {
        Failure::bad_option(format!(
            " Error: {reason}\n\n Usage: {program} {SYNOPSIS}\n"
        ))
    };
    let place = match (matches.get_flag("user"), matches.get_flag("system")) {
        (true, true) => return Err(refused("only one config file at a time")),
        (true, false) => Place::User,
        (false, true) => Place::System,
        (false, false) => Place::All,
    };
    let words = matches.get_many::<String>("values").into_iter().flatten();
    let wishes: Vec<Wish> = words.map(|word| wish(word)).collect::<Result<_, _>>()?;
    if matches.get_flag("list") && !wishes.is_empty() {
        return Err(refused("takes no arguments"));
    }
    Ok(ConfigOptions {
        place,
        origins: matches.get_flag("show-origin"),
        wishes,
    })
}

/// `NAME` or `NAME=VALUE`.
fn wish(word: &str) -> Result<Wish, Failure> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let Some((section, last)) = name
        .rsplit_once('.')
        .filter(|(section, _)| !section.is_empty())
    else {
        return Err(Failure::new(format!(
            "The config variable does not contain a section name: {word}"
        )));
    };
    let (first, rest) = section.split_once('.').map_or((section, ""), |parts| parts);
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let starts_well = last.starts_with(|first: char| first.is_ascii_alphabetic());
    if !is_plain(first) || !is_plain(last) || !starts_well || rest.contains('\n') {
        return Err(Failure::new(format!(
            "invalid config variable: {name}\nA name is SECTION.NAME, of letters, digits, - and _; it begins with a letter."
        )));
    }
    let rest = if is_plain(&rest.replace('.', "")) {
        rest.to_ascii_lowercase()
    } else {
        rest.to_owned()
    };
    let dot = if rest.is_empty() { "" } else { "." };
    let key = format!(
        "{}{dot}{rest}.{}",
        first.to_ascii_lowercase(),
        last.to_ascii_lowercase()
    );
    match value {
        None => Ok(Wish::Show(key)),
        Some("") => Err(Failure::new(format!(
            "The config variable does not contain a value: {word}"
        ))),
        Some(value) => Ok(Wish::Set(key, value.to_owned())),
    }
}
