//! The option groups that several commands share, and the typed options that are made of them. `ArgMatches` ends here
//! and in the commands' own `arguments.rs`.

pub(crate) mod filter;
mod guests;
pub(crate) mod itrace;
pub(crate) mod stitch;
pub(crate) mod switching;
pub(crate) mod symbols;

use std::path::PathBuf;

use clap::ArgMatches;

/// The text of an option that the command may not have.
pub(crate) fn text<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m str> {
    let given = matches.try_get_one::<String>(name).ok().flatten();
    given.map(String::as_str)
}

/// The file of an option that the command may not have.
fn file(matches: &ArgMatches, name: &str) -> Option<PathBuf> {
    text(matches, name).map(PathBuf::from)
}

/// `true` if a switch is given that the command may not have.
pub(crate) fn flag(matches: &ArgMatches, name: &str) -> bool {
    let given = matches.try_get_one::<bool>(name).ok().flatten();
    given.copied().unwrap_or(false)
}
