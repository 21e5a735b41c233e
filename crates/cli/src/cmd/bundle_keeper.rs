//! The process that removes the folder of an unpacked bundle when the one that reads it ends, however that ends: by Ctrl-C, a
//! closed terminal, or `kill -9`. [`crate::bundled`] starts it; nobody else calls it.

mod arguments;

use std::io::Read;
use std::path::Path;

use crate::bundled;
use crate::cmd::Entry;
use crate::failure::{Failure, code};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: bundled::KEEPER,
    command: arguments::command,
    run: |matches, _| run(&arguments::folder(matches)),
    shares_work: false,
};

/// Waits for the end of standard input, whose other end the reader of the bundle has.
fn run(folder: &Path) -> Result<i32, Failure> {
    while std::io::stdin().read(&mut [0; 64])? > 0 {}
    bundled::remove(folder);
    Ok(code::SUCCESS)
}
