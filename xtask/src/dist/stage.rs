//! The files of a release where they are installed, below a folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Release, run_program, symbols, text_of};
use crate::workspace;

/// The scripts of completion: the shell, where its script for `oxperf` goes, and that for `perf`, which the link of the
/// alternative leads to.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    (
        "bash",
        "bash-completion/completions/oxperf",
        "oxperf/completions/perf.bash",
    ),
    (
        "zsh",
        "zsh/vendor-completions/_oxperf",
        "oxperf/completions/_perf",
    ),
    (
        "fish",
        "fish/vendor_completions.d/oxperf.fish",
        "oxperf/completions/perf.fish",
    ),
];

/// Lays out the files below `folder/root` anew; returns that folder.
pub(super) fn make(program: &Path, folder: &Path, release: &Release) -> Result<PathBuf> {
    let root = folder.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    let share = root.join("usr/share");
    let bin = root.join("usr/bin");
    fs::create_dir_all(&bin)?;
    let installed = bin.join("oxperf");
    symbols::strip(program, &installed)?;
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755))?;
    let installed = installed.display().to_string();
    let pages = share.join("man/man1");
    run_program(
        &installed,
        &[
            "manual",
            "--date",
            &release.date,
            &pages.display().to_string(),
        ],
        &root,
    )?;
    for page in fs::read_dir(&pages)? {
        compress(&page?.path())?;
    }
    for (shell, own, perf) in COMPLETIONS {
        for (name, place) in [("oxperf", own), ("perf", perf)] {
            let script = text_of(&installed, &["completions", "--name", name, shell], &root)?;
            write(&share.join(place), &script)?;
        }
    }
    documents(&share.join("doc/oxperf"))?;
    Ok(root)
}

/// Documents, licences, and what else is in the program.
fn documents(folder: &Path) -> Result<()> {
    let root = workspace::root();
    for name in ["README.md", "SECURITY.md"] {
        write(&folder.join(name), &fs::read_to_string(root.join(name))?)?;
    }
    for entry in fs::read_dir(root.join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().context("a page without a name")?;
            write(&folder.join("docs").join(name), &fs::read_to_string(&path)?)?;
        }
    }
    write(
        &folder.join("changelog"),
        &fs::read_to_string(root.join("CHANGELOG.md"))?,
    )?;
    compress(&folder.join("changelog"))?;
    write(&folder.join("copyright"), &copyright()?)
}

/// The licences, and every package that the program was built with.
fn copyright() -> Result<String> {
    let root = workspace::root();
    let mit = fs::read_to_string(root.join("LICENSE-MIT"))?;
    let notice = fs::read_to_string(root.join("NOTICE"))?;
    let metadata = workspace::metadata()?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let mut others: Vec<String> = packages
        .iter()
        .filter(|package| !package["source"].is_null())
        .map(|package| {
            let text = |key: &str| package[key].as_str().unwrap_or("-").to_owned();
            format!("{} {}: {}", text("name"), text("version"), text("license"))
        })
        .collect();
    others.sort();
    Ok(format!(
        "oxperf is licensed under the MIT licence or the Apache licence 2.0\n\
         (/usr/share/common-licenses/Apache-2.0), at your choice.\n\n{mit}\n\
         {notice}\n\
         Packages of other people that it may be built with, and their licences:\n\n{}\n",
        others.join("\n")
    ))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// Replaces a file by a compressed one that names neither time nor file.
fn compress(path: &Path) -> Result<()> {
    run_program(
        "gzip",
        &["-9nf", &path.display().to_string()],
        Path::new("/"),
    )
}
