//! The process that a `--dlfilter` runs in: `script` starts this program anew for it. Nobody else calls it.

mod arguments;

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::output::print_line;

/// The command's name.
pub(super) const NAME: &str = "dlfilter-helper";

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    command: arguments::command,
    run: |matches, _| run(&arguments::options(matches)),
    shares_work: false,
};

/// The options of the process that a filter runs in.
struct HelperOptions {
    /// The shared object.
    filter: PathBuf,
    /// The filter is described and not run.
    describe: bool,
}

/// Serves the filter to the program behind standard input, which is a socket.
fn run(options: &HelperOptions) -> Result<i32, Failure> {
    let filter = &options.filter;
    let failed = |error: oxperf_dlfilter::DlfilterError| Failure::new(error.to_string());
    if options.describe {
        if let Some((line, _)) = oxperf_dlfilter::describe(filter).map_err(failed)? {
            print_line(&line)?;
        }
        return Ok(code::SUCCESS);
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    oxperf_dlfilter::serve(filter, UnixStream::from(socket)).map_err(failed)?;
    Ok(code::SUCCESS)
}
