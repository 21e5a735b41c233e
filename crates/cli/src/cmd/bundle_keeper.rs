//! The process that removes the folder of an unpacked bundle when the one that reads it ends, however that ends: by Ctrl-C, a
//! closed terminal, or `kill -9`. [`crate::bundled`] starts it; nobody else calls it.

use std::io::Read;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::bundled;
use crate::failure::{Failure, code};

/// The command's name.
pub(crate) const NAME: &str = "bundle-keeper";

/// The options: the folder.
pub(crate) fn command() -> Command {
    Command::new(NAME)
        .hide(true)
        .about("Remove the folder of a bundle when standard input ends")
        .arg(
            Arg::new("folder")
                .required(true)
                .value_parser(value_parser!(PathBuf)),
        )
}

/// Waits for the end of standard input, whose other end the reader of the bundle has.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let folder = matches
        .get_one::<PathBuf>("folder")
        .cloned()
        .unwrap_or_default();
    while std::io::stdin().read(&mut [0; 64])? > 0 {}
    bundled::remove(&folder);
    Ok(code::SUCCESS)
}
