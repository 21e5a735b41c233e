//! The binaries that the recordings name. Links in `../shared` may have arrived as small files that hold the link's
//! target; a tool that opens them finds no ELF there, so the tree is rebuilt with real files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// No target of a link is longer, no binary shorter.
const LONGEST_TARGET: u64 = 256;

/// Copies `from` to `to`, following links of both kinds; does nothing when `to` is there.
pub(crate) fn rebuild(from: &Path, to: &Path) -> Result<()> {
    if to.is_dir() {
        return Ok(());
    }
    let unfinished = to.with_extension("unfinished");
    copy(from, &unfinished)?;
    Ok(std::fs::rename(&unfinished, to)?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            let real = link_target(&source)?.unwrap_or(source);
            std::fs::copy(&real, &target).with_context(|| real.display().to_string())?;
        }
    }
    Ok(())
}

/// The file that a link in text form names.
fn link_target(file: &Path) -> Result<Option<PathBuf>> {
    if std::fs::metadata(file)?.len() > LONGEST_TARGET {
        return Ok(None);
    }
    let text = std::fs::read(file)?;
    let target = std::str::from_utf8(&text).ok().zip(file.parent());
    Ok(target
        .map(|(target, folder)| folder.join(target.trim_end()))
        .filter(|path| path.is_file()))
}

/// The objects of a case of Intel PT, among those of all: its link, which may have become a file that holds the target.
pub(super) fn of_case(case: &Path, objects: &Path) -> Result<PathBuf> {
    let link = case.join("symfs");
    let target = match link.is_dir() {
        true => link.canonicalize()?,
        false => PathBuf::from(
            std::fs::read_to_string(&link).with_context(|| link.display().to_string())?,
        ),
    };
    Ok(objects.join(target.file_name().context("the link names no folder")?))
}
