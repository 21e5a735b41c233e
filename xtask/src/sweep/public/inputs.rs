//! The recordings that the index of the public fixtures lists.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::read_maybe_zstd;

/// One recording.
pub(in crate::sweep) struct Input {
    /// Its name in the repository that it comes from.
    pub(in crate::sweep) name: String,
    /// Path, possibly of a packed file.
    pub(in crate::sweep) stored: PathBuf,
    /// True if it holds traces of a CPU, which wait to be decoded.
    pub(super) traced: bool,
}

impl Input {
    /// The file to read: the stored one, or an unpacked copy in `folder`.
    pub(in crate::sweep) fn unpack(&self, folder: &Path) -> Result<PathBuf> {
        if self
            .stored
            .extension()
            .is_none_or(|extension| extension != "zst")
        {
            return Ok(self.stored.clone());
        }
        let unpacked = folder.join("perf.data");
        std::fs::write(&unpacked, read_maybe_zstd(&self.stored)?)?;
        Ok(unpacked)
    }
}

/// Every perf.data in the index whose stored name holds `filter`.
pub(in crate::sweep) fn recordings(public: &Path, filter: &str) -> Result<Vec<Input>> {
    let index = public.join("INDEX.tsv");
    let text = std::fs::read_to_string(&index).with_context(|| index.display().to_string())?;
    let inputs = text.lines().skip(1).filter_map(|line| input(public, line));
    Ok(inputs
        .filter(|input| input.stored.to_string_lossy().contains(filter))
        .collect())
}

/// `path, stored_as, size, kind, source, licence, contents`, between tabs.
fn input(public: &Path, line: &str) -> Option<Input> {
    let columns: Vec<&str> = line.split('\t').collect();
    let (name, stored, kind) = (columns.first()?, columns.get(1)?, columns.get(3)?);
    let stored = public.join(stored);
    let traced = columns
        .get(6)
        .is_some_and(|contents| contents.contains("AUXTRACE:"));
    let wanted = kind.contains("perf.data") && stored.is_file();
    wanted.then(|| Input {
        name: (*name).to_owned(),
        stored,
        traced,
    })
}
