//! The program with the engine: where it is, and how this process becomes it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment;
use crate::failure::Failure;

/// The name of the program.
pub(super) const NAME: &str = "oxperf-query";

/// The program beside this one, else on the search path.
pub(super) fn find() -> Option<PathBuf> {
    let own = environment::program();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let search_path = environment::search_path().unwrap_or_default();
    let folders = beside
        .into_iter()
        .chain(std::env::split_paths(&search_path));
    let mut programs = folders.map(|folder| folder.join(NAME));
    programs.find(|program| is_program(program) && !is_same_file(program, own.as_deref()))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// `true` for a link to this program: it would become itself for ever.
fn is_same_file(path: &Path, own: Option<&Path>) -> bool {
    let identity = |path: &Path| {
        fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    identity(path).is_some() && identity(path) == own.and_then(identity)
}

/// Becomes the program with the words of this one, name included; returns only if that fails.
pub(super) fn become_it(program: &Path) -> Failure {
    let mut words = environment::words();
    let mut command = Command::new(program);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    let error = command.args(words).exec();
    Failure::new(format!("{} cannot be run: {error}", program.display()))
}
