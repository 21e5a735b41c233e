//! The kinds of options that commands define by name: a switch, and an option with a value.

use clap::{Arg, ArgAction};

/// A switch.
pub(crate) fn switch(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

/// An option with a value, which may begin with a hyphen; the help calls it `shown`.
pub(crate) fn value(name: &'static str, shown: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(shown)
        .allow_hyphen_values(true)
}
