//! Reasons why there are no names, and the list of the files that were refused.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::PoisonError;

use oxperf_abi::BuildId;
use oxperf_objects::{NotFound, Rejection};

use super::{Key, SymbolStore};

/// The reason why there are no names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No file of that identity was found.
    #[error("no such file with the recorded identity")]
    NotFound(NotFound),
    /// The file that was asked for can't be used.
    #[error("{path}: {why}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The reason for the refusal.
        why: Rejection,
    },
    /// The running kernel is another than the recorded one.
    #[error("the running kernel's build id differs from the recorded one")]
    OtherKernel,
    /// The file is there and has no symbol at all.
    #[error("no symbols")]
    NoSymbols,
    /// The file is there and has no debug information, nor a separate file that has.
    #[error("no debug information")]
    NoDebugInfo,
    /// Kernel names are switched off.
    #[error("switched off")]
    Off,
}

/// An object of which only another version is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildIdMismatch {
    /// Its recorded path; untrusted.
    pub path: Box<[u8]>,
    /// Its recorded identity.
    pub recorded: BuildId,
    /// The file that was refused.
    pub file: PathBuf,
    /// The identity of that file.
    pub found: BuildId,
}

/// An object whose file is there and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreadable {
    /// The file.
    pub file: PathBuf,
    /// The system's error.
    pub why: ErrorKind,
}

impl SymbolStore {
    /// The objects that were asked for and go without names because every file found for them is another version, each
    /// with the refused file.
    pub fn replaced(&self) -> Vec<BuildIdMismatch> {
        let slots = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let mut replaced: Vec<BuildIdMismatch> = slots
            .iter()
            .filter_map(|(key, slot)| match (key, slot.get()?) {
                (
                    Key::Object { path, build_id, .. } | Key::Module { path, build_id, .. },
                    Err(Unavailable::NotFound(missing)),
                ) => {
                    let (file, found) = missing.other_version()?;
                    Some(BuildIdMismatch {
                        path: path.clone(),
                        recorded: (*build_id)?,
                        file: file.to_owned(),
                        found,
                    })
                }
                _ => None,
            })
            .collect();
        replaced.sort();
        replaced
    }

    /// The maps of code made at run time that were asked for and are not believed, each with the user id of its owner.
    pub fn disbelieved(&self) -> Vec<(PathBuf, u32)> {
        let slots = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = slots
            .iter()
            .filter_map(|(key, slot)| match (key, slot.get()?) {
                (
                    Key::PerfMap(_),
                    Err(Unavailable::Unusable {
                        path,
                        why: Rejection::ForeignOwner { owner },
                    }),
                ) => Some((path.clone(), *owner)),
                _ => None,
            });
        let mut refused: Vec<(PathBuf, u32)> = refused.collect();
        refused.sort();
        refused
    }

    /// The objects that were asked for and go without names or source lines because their file cannot be read, though
    /// nothing says that it is gone. What a live process shows of its files is not among them: it is tried on the chance.
    pub fn unreadable(&self) -> Vec<Unreadable> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = tables
            .values()
            .filter_map(|slot| slot.get()?.as_ref().err());
        let mut files: Vec<Unreadable> = missing
            .chain(
                sources
                    .values()
                    .filter_map(|slot| slot.get()?.as_ref().err()),
            )
            .filter_map(|why| match why {
                Unavailable::NotFound(missing) => missing.unreadable(),
                _ => None,
            })
            .map(|(file, why)| Unreadable {
                file: file.to_owned(),
                why,
            })
            .collect();
        files.sort();
        files.dedup();
        files
    }
}
