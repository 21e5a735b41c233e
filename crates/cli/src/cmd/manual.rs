//! `manual`: writes the pages of the manual for `man`. Packages and `cargo xtask dist` call it.

mod arguments;

use std::fs;
use std::path::PathBuf;

use crate::app;
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::manual::{self, Edition};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "manual",
    command: arguments::command,
    run: |matches, _| run(&arguments::options(matches)),
    shares_work: false,
};

/// Where the pages go, and what their foot says.
struct ManualOptions {
    folder: PathBuf,
    date: String,
}

/// Writes `NAME.1` for every page. The pages are those of `oxperf`, whatever this program is called.
fn run(options: &ManualOptions) -> Result<i32, Failure> {
    let problem = |error| {
        Failure::new(format!(
            "cannot write {}: {error}",
            options.folder.display()
        ))
    };
    fs::create_dir_all(&options.folder).map_err(problem)?;
    let edition = Edition {
        version: env!("CARGO_PKG_VERSION"),
        date: &options.date,
    };
    for page in manual::pages(&app::whole_command("oxperf")) {
        let file = options.folder.join(format!("{}.1", page.name()));
        fs::write(file, manual::write(&page, &edition)).map_err(problem)?;
    }
    Ok(code::SUCCESS)
}
