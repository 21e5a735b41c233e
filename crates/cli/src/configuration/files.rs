//! The configuration files: which there are, who may have written them, and their text.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files that are read, and written by `config`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ConfigurationFiles {
    /// The file that `PERF_CONFIG` names replaces all others.
    Only(PathBuf),
    /// The usual ones; `None` for one that is not to be read, or has no place.
    Usual {
        /// Of the whole system.
        system: Option<PathBuf>,
        /// Of the user.
        user: Option<PathBuf>,
    },
}

/// perf's configuration of the whole system.
pub(crate) const SYSTEM: &str = "/etc/perfconfig";

impl ConfigurationFiles {
    /// The files that are there, in the order in which they are read.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        match self {
            ConfigurationFiles::Only(path) => vec![path.clone()],
            ConfigurationFiles::Usual { system, user } => {
                system.iter().chain(user).cloned().collect()
            }
        }
    }
}

/// The text of a file.
///
/// # Errors
/// The message for the user, if there is anything to say: a file that cannot be found is no mistake.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Option<String>> {
    match std::fs::metadata(path) {
        Ok(metadata) if ![0, oxperf_sys::process::effective_user()].contains(&metadata.uid()) => {
            return Err(Some(format!(
                "File {} not owned by current user or root, ignoring it.",
                path.display()
            )));
        }
        Ok(_) => {}
        // A folder that cannot be entered, or is none, holds no file to read.
        Err(_) => return Err(None),
    }
    std::fs::read(path).map_err(|error| Some(format!("{}: {error}, ignoring.", path.display())))
}
