//! The options of a command as they are listed: one entry an option, in groups, from the parser's own definitions.

use clap::{Arg, Command};

/// Options below one heading.
pub(crate) struct OptionGroup {
    /// The heading; the first group may have none.
    pub(crate) title: Option<String>,
    /// Its options, in the order of their definitions.
    pub(crate) options: Vec<ListedOption>,
}

/// An option as it is listed.
pub(crate) struct ListedOption {
    /// Its letter.
    pub(crate) short: Option<char>,
    /// Its name, and other names of it.
    pub(crate) longs: Vec<String>,
    /// The value that it takes.
    pub(crate) value: Option<OptionValue>,
    /// What it does.
    pub(crate) help: String,
    /// The values that there are, if they can be listed.
    pub(crate) choices: Vec<String>,
    /// The value that it has when it is not given.
    pub(crate) default: Option<String>,
}

/// The value of an option.
pub(crate) struct OptionValue {
    /// The word that stands for it, such as `FILE`.
    pub(crate) name: String,
    /// True if the option also stands alone.
    pub(crate) optional: bool,
}

/// The groups of options that a command shows. The command has been built.
pub(super) fn groups(command: &Command) -> Vec<OptionGroup> {
    let mut groups: Vec<OptionGroup> = Vec::new();
    let shown = command
        .get_arguments()
        .filter(|argument| !argument.is_positional() && !argument.is_hide_set());
    for argument in shown {
        let title = argument.get_help_heading().map(str::to_owned);
        let option = ListedOption::of(argument);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.options.push(option),
            None => groups.push(OptionGroup {
                title,
                options: vec![option],
            }),
        }
    }
    // Options without a heading are those that any command has.
    groups.sort_by_key(|group| group.title.is_none());
    groups
}

/// The words of a command that are no options, and what each stands for.
pub(super) fn words(command: &Command) -> Vec<(String, String)> {
    let shown = command
        .get_positionals()
        .filter(|argument| !argument.is_hide_set());
    let described = shown.map(|argument| (value_name(argument), help(argument)));
    described.filter(|(_, help)| !help.is_empty()).collect()
}

impl ListedOption {
    /// The entry of an option.
    fn of(argument: &Arg) -> ListedOption {
        let takes_values = argument.get_action().takes_values();
        let longs = argument.get_long_and_visible_aliases().unwrap_or_default();
        let choices = argument.get_possible_values();
        let choices = choices.iter().filter(|choice| !choice.is_hide_set());
        let default = argument.get_default_values().first();
        ListedOption {
            short: argument.get_short(),
            longs: longs.into_iter().map(str::to_owned).collect(),
            value: takes_values.then(|| OptionValue {
                name: value_name(argument),
                optional: argument
                    .get_num_args()
                    .is_some_and(|range| range.min_values() == 0),
            }),
            help: help(argument),
            choices: match takes_values {
                true => choices.map(|choice| choice.get_name().to_owned()).collect(),
                false => Vec::new(),
            },
            default: default
                .filter(|_| takes_values && !argument.is_hide_default_value_set())
                .map(|value| value.to_string_lossy().into_owned()),
        }
    }
}

fn help(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    help.map(ToString::to_string).unwrap_or_default()
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    match names.first() {
        Some(name) => name.to_string(),
        None => argument.get_id().as_str().to_uppercase(),
    }
}
