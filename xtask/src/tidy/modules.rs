//! Files that no module declares: the compiler never sees them, and the tests in them never run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Findings, Source};

/// Files that cargo finds by themselves.
const ROOTS: [&str; 3] = ["lib.rs", "main.rs", "build.rs"];

/// Folders whose files cargo finds by themselves.
const FOLDERS_OF_ROOTS: [&str; 5] = ["tests", "examples", "benches", "bin", "fuzz_targets"];

/// Checks every Rust file.
pub(super) fn check(sources: &[Source], findings: &mut Findings) {
    let texts: BTreeMap<&Path, &str> = sources
        .iter()
        .map(|source| (source.path.as_path(), source.text.as_str()))
        .collect();
    for source in sources {
        let path = &source.path;
        if !is_root(path) && !is_declared(path, &texts) && !is_included(path, sources) {
            findings.broken(path.display(), "no module declares this file");
        }
    }
}

/// Returns whether cargo finds a file by itself, or never looks for it.
fn is_root(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let mut folders = path.iter();
    if !folders.any(|folder| folder == "src" || folder == "tests") {
        return true;
    }
    ROOTS.iter().any(|root| name == *root) || FOLDERS_OF_ROOTS.iter().any(|root| folder == *root)
}

/// Returns whether a file that can hold the module declares it.
fn is_declared(path: &Path, texts: &BTreeMap<&Path, &str>) -> bool {
    let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
        return false;
    };
    let declaration = format!("mod {name};");
    let parents = parents(path).into_iter();
    let mut texts = parents.filter_map(|parent| texts.get(parent.as_path()));
    texts.any(|text| text.contains(&declaration))
}

/// Returns whether a file is taken in as text, to be built as a program of its own.
fn is_included(path: &Path, sources: &[Source]) -> bool {
    let included = |source: &Source| {
        let folder = source.path.parent()?;
        let place = path.strip_prefix(folder).ok()?;
        Some(
            source
                .text
                .contains(&format!("include_str!(\"{}\")", place.display())),
        )
    };
    sources.iter().any(|source| included(source) == Some(true))
}

/// The files that can declare a file as a module.
fn parents(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = ["lib.rs", "main.rs", "mod.rs"].map(|name| folder.join(name));
    let mut parents = beside.to_vec();
    parents.push(folder.with_extension("rs"));
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_declaration_are_found() {
        let source = |path: &str, text: &str| Source {
            path: path.into(),
            text: text.to_owned(),
        };
        let sources = [
            source("crates/a/src/lib.rs", "mod one;\npub(crate) mod two;\n"),
            source("crates/a/src/one.rs", "mod inner;"),
            source("crates/a/src/one/inner.rs", ""),
            source("crates/a/src/two.rs", ""),
            source("crates/a/src/lost.rs", ""),
            source("crates/a/tests/it/main.rs", "mod topic;"),
            source("crates/a/tests/it/topic.rs", ""),
            source("crates/a/tests/it/lost.rs", ""),
            source("crates/a/tests/alone.rs", ""),
            source("xtask/src/main.rs", "mod bench;"),
            source("xtask/src/bench.rs", "include_str!(\"bench/program.rs\")"),
            source("xtask/src/bench/program.rs", ""),
            source("xtask/program.rs", ""),
        ];
        let mut findings = Findings::default();
        check(&sources, &mut findings);
        assert_eq!(
            findings.broken,
            [
                "crates/a/src/lost.rs: no module declares this file",
                "crates/a/tests/it/lost.rs: no module declares this file"
            ]
        );
    }
}
