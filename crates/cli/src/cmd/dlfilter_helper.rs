//! The process that a `--dlfilter` runs in: `script` starts this program anew for it. Nobody else calls it.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::failure::{Failure, code};
use crate::output::print_line;

/// The command's name.
pub(super) const NAME: &str = "dlfilter-helper";

/// The options: the filter, and whether it is to say what it is and no more.
pub(crate) fn command() -> Command {
    Command::new(NAME)
        .hide(true)
        .about("Run a filter of script --dlfilter")
        .arg(
            Arg::new("filter")
                .required(true)
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("describe")
                .long("describe")
                .action(clap::ArgAction::SetTrue),
        )
}

/// Serves the filter to the program behind standard input, which is a socket.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let filter = matches
        .get_one::<PathBuf>("filter")
        .cloned()
        .unwrap_or_default();
    let failed = |error: oxperf_dlfilter::DlfilterError| Failure::new(error.to_string());
    if matches.get_flag("describe") {
        if let Some((line, _)) = oxperf_dlfilter::describe(&filter).map_err(failed)? {
            print_line(&line)?;
        }
        return Ok(code::SUCCESS);
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    oxperf_dlfilter::serve(&filter, UnixStream::from(socket)).map_err(failed)?;
    Ok(code::SUCCESS)
}
