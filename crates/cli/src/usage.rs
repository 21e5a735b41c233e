//! `-h`: the options of a command in perf's layout, and the part of it that stands below a mistake.

use std::cmp::Ordering;
use std::fmt::Write;

use clap::{Arg, Command};

use crate::words::{About, Mistake};

/// The columns before the descriptions, without the gap.
const WIDTH: usize = 24;
/// The columns between an option and its description.
const GAP: usize = 2;

/// The command lines of commands that take more than options.
const FORMS: &[(&str, &[&str])] = &[
    ("profile", &["[<options>] [--] <command>"]),
    (
        "record",
        &[
            "[<options>] [<command>]",
            "[<options>] -- <command> [<options>]",
        ],
    ),
    ("stat", &["[<options>] [<command>]"]),
    ("stat record", &["[<options>] [<command>]"]),
    (
        "script",
        &["[<options>]", "[<options>] -s <program> [<arguments>]"],
    ),
    ("diff", &["[<options>] [<old file>] [<new file>]"]),
    (
        "list",
        &["[<options>] [hw|sw|cache|tracepoint|pmu|sdt|metric|metricgroup|event_glob]"],
    ),
    ("data", &["convert [<options>]", "check [<options>]"]),
    ("check", &["[<options>] feature <feature list>"]),
    (
        "kvm",
        &["[<options>] {record|report|diff|buildid-list} [<options>]"],
    ),
    ("kallsyms", &["[<options>] <symbol name>"]),
];

/// The first words of commands that have no commands below them.
const FIRST_WORDS: &[(&str, &str)] = &[("check", "feature"), ("test", "list")];

/// The command lines of a command, given by its words: `perf report [<options>]`.
pub(crate) fn forms(command: &Command, program: &str, path: &[String]) -> Vec<String> {
    let words = path.join(" ");
    let head = format!("{program} {words}");
    if let Some((_, forms)) = FORMS.iter().find(|(name, _)| *name == words) {
        return forms.iter().map(|form| format!("{head} {form}")).collect();
    }
    let positional = command.get_positionals().filter(|word| !word.is_hide_set());
    let mut form = head + " [<options>]";
    for word in positional {
        let several = word
            .get_num_args()
            .is_some_and(|range| range.max_values() > 1);
        let name = value_name(word).unwrap_or_else(|| word.get_id().to_string());
        let _ = write!(form, " [<{name}>{}]", if several { "..." } else { "" });
    }
    vec![form]
}

/// The options in short: all, or those that a word is about.
pub(crate) fn text(command: &Command, forms: &[String], about: &[String]) -> String {
    let mut options: Vec<&Arg> = options(command)
        .filter(|option| about.is_empty() || about.iter().any(|word| is_about(option, word)))
        .collect();
    options.sort_by(|one, other| order(one, other));
    format!("\n{}\n{}", head(forms), lines(&options))
}

/// A mistake, with the options that it is about.
pub(crate) fn with_mistake(command: &Command, forms: &[String], mistake: &Mistake) -> String {
    let Mistake { message, about } = mistake;
    let options: Vec<&Arg> = match about {
        About::All => return format!("{message}{}", text(command, forms, &[])),
        About::Long(start) => options(command)
            .filter(|option| {
                let long = option.get_long();
                long.is_some_and(|long| long.starts_with(start.as_str()))
            })
            .collect(),
        About::Short(letter) => options(command)
            .filter(|option| option.get_short() == Some(*letter))
            .collect(),
    };
    format!("{message}\n{}\n{}", head(forms), lines(&options))
}

/// The long options of a command, each behind two dashes.
pub(crate) fn long_options(command: &Command) -> String {
    let longs = options(command).filter_map(Arg::get_long);
    longs.map(|long| format!("--{long} ")).collect()
}

/// The words that may stand first behind a command, given by its words: the commands below it, and others.
pub(crate) fn words_below(command: &Command, path: &[String]) -> String {
    let path = path.join(" ");
    let others = FIRST_WORDS.iter().filter(|(name, _)| *name == path);
    let below = command.get_subcommands().map(Command::get_name);
    let words = below.chain(others.map(|(_, word)| *word));
    words.map(|word| format!("{word} ")).collect()
}

/// The options that are shown.
pub(crate) fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    let all = command.get_arguments();
    all.filter(|argument| !argument.is_positional() && !argument.is_hide_set())
}

fn head(forms: &[String]) -> String {
    let mut head = String::new();
    for (number, form) in forms.iter().enumerate() {
        let lead = if number == 0 { " Usage:" } else { "    or:" };
        let _ = writeln!(head, "{lead} {form}");
    }
    head
}

fn lines(options: &[&Arg]) -> String {
    options.iter().map(|option| line(option)).collect()
}

/// Letters come first, in the order of the alphabet; among equal ones names decide.
fn order(one: &Arg, other: &Arg) -> Ordering {
    match (one.get_short(), other.get_short()) {
        (Some(_), None) => return Ordering::Less,
        (None, Some(_)) => return Ordering::Greater,
        _ => {}
    }
    let key = |option: &Arg| {
        (
            option.get_short().map(|letter| letter.to_ascii_lowercase()),
            option.get_long().unwrap_or_default().to_ascii_lowercase(),
        )
    };
    key(one).cmp(&key(other))
}

/// True if a word names an option, or stands in its description.
fn is_about(option: &Arg, word: &str) -> bool {
    if let Some(name) = word.strip_prefix("--") {
        return option.get_long() == Some(name);
    }
    if let Some(letter) = word.strip_prefix('-') {
        return letter.chars().next() == option.get_short();
    }
    if word.chars().count() == 1 {
        return word.chars().next() == option.get_short();
    }
    option.get_long() == Some(word)
        || description(option)
            .to_lowercase()
            .contains(&word.to_lowercase())
}

/// An option with its description, on one line or two.
fn line(option: &Arg) -> String {
    let lead = match option.get_short() {
        Some(_) => "    ",
        None => "        ",
    };
    let line = format!("{lead}{}", names(option));
    let width = line.chars().count();
    let description = description(option);
    if width <= WIDTH {
        let pad = WIDTH - width + GAP;
        format!("{line}{:pad$}{description}\n", "")
    } else {
        let pad = WIDTH + GAP;
        format!("{line}\n{:pad$}{description}\n", "")
    }
}

/// The names of an option, with its value: `-i, --input <file>`.
pub(crate) fn names(option: &Arg) -> String {
    let long = option.get_long().map(|long| format!("--{long}"));
    let short = option.get_short().map(|letter| format!("-{letter}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    names.join(", ") + &value(option)
}

/// The form of an option's value: ` <n>`, `[=<n>]` where it may be missing.
fn value(option: &Arg) -> String {
    if !option.get_action().takes_values() {
        return String::new();
    }
    let name = value_name(option).map_or("...".to_owned(), |name| format!("<{name}>"));
    match (option.is_require_equals_set(), option.get_long()) {
        (true, Some(_)) => format!("[={name}]"),
        (true, None) => format!("[{name}]"),
        (false, _) => format!(" {name}"),
    }
}

fn value_name(option: &Arg) -> Option<String> {
    let names = option.get_value_names()?;
    Some(names.first()?.to_string())
}

/// The description, with the values that there are and the one that counts without the option.
pub(crate) fn description(option: &Arg) -> String {
    let help = option.get_help().map(ToString::to_string);
    let mut text = help.unwrap_or_default();
    if !option.get_action().takes_values() {
        return text;
    }
    let default = option.get_default_values().first();
    if let Some(default) = default.filter(|_| !option.is_hide_default_value_set()) {
        let _ = write!(text, " [default: {}]", default.to_string_lossy());
    }
    let choices = option.get_possible_values();
    let choices: Vec<&str> = choices
        .iter()
        .filter(|choice| !choice.is_hide_set())
        .map(clap::builder::PossibleValue::get_name)
        .collect();
    if !choices.is_empty() {
        let _ = write!(text, " [possible values: {}]", choices.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    fn switch(name: &'static str) -> Arg {
        Arg::new(name).long(name).action(ArgAction::SetTrue)
    }

    #[test]
    fn options_are_laid_out_as_perf_lays_them_out() {
        let command = Command::new("made").args([
            switch("zeal").help("Try hard"),
            switch("force").short('f').help("Do it"),
            Arg::new("fields")
                .long("fields")
                .short('F')
                .value_name("str")
                .help("Fields"),
            Arg::new("compression-level")
                .long("compression-level")
                .short('z')
                .value_name("n")
                .num_args(0..=1)
                .require_equals(true)
                .help("Compress"),
            Arg::new("g")
                .short('g')
                .action(ArgAction::SetTrue)
                .help("Chains"),
            switch("hidden").hide(true),
        ]);
        let forms = ["perf made [<options>]".to_owned(), "perf made x".to_owned()];
        assert_eq!(
            text(&command, &forms, &[]),
            "
 Usage: perf made [<options>]
    or: perf made x

    -F, --fields <str>    Fields
    -f, --force           Do it
    -g                    Chains
    -z, --compression-level[=<n>]
                          Compress
        --zeal            Try hard
"
        );
        let about = text(&command, &forms[..1], &["try".to_owned(), "g".to_owned()]);
        assert_eq!(
            about,
            "
 Usage: perf made [<options>]

    -g                    Chains
        --zeal            Try hard
"
        );
        assert_eq!(
            long_options(&command),
            "--zeal --force --fields --compression-level "
        );
    }

    #[test]
    fn a_mistake_comes_with_its_option() {
        let command = Command::new("made").args([switch("force").short('f').help("Do it")]);
        let mistake = Mistake {
            message: " Error: switch `f' takes no value".to_owned(),
            about: About::Short('f'),
        };
        assert_eq!(
            with_mistake(&command, &["perf made".to_owned()], &mistake),
            " Error: switch `f' takes no value
 Usage: perf made

    -f, --force           Do it
"
        );
    }
}
