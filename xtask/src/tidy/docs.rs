//! Documents: the ones that must exist, links that lead somewhere, and a page for every folder of fixtures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Findings, Source};
use crate::workspace;

const REQUIRED: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "deny.toml",
    "docs/differences.md",
];

/// Names of folders that hold inputs or expected texts of tests.
const FIXTURES: [&str; 2] = ["fixtures", "golden"];

/// Checks presence, links and the pages of fixtures.
pub(super) fn check(files: &[PathBuf], pages: &[Source], findings: &mut Findings) {
    for name in REQUIRED
        .iter()
        .filter(|name| !workspace::root().join(name).is_file())
    {
        findings.broken(name, "is missing");
    }
    pages.iter().for_each(|page| check_links(page, findings));
    for folder in fixture_folders(files) {
        if !workspace::root().join(&folder).join("README.md").is_file() {
            findings.broken(
                folder.display(),
                "needs a README.md that says where the files come from",
            );
        }
    }
}

fn check_links(page: &Source, findings: &mut Findings) {
    let folder = page.path.parent().unwrap_or(Path::new(""));
    for (number, line) in page.text.lines().enumerate() {
        for target in
            links(line).filter(|target| !workspace::root().join(folder).join(target).exists())
        {
            findings.broken(
                format!("{}:{}", page.path.display(), number + 1),
                format!("{target} does not exist"),
            );
        }
    }
}

/// The files that a line of Markdown links to, without anchors and addresses.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target);
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    files
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty())
}

fn fixture_folders(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let folders = files.iter().flat_map(|file| file.ancestors().skip(1));
    let named = folders.filter(|folder| {
        folder
            .file_name()
            .is_some_and(|name| FIXTURES.iter().any(|known| name == *known))
    });
    named
        .filter(|folder| folder.starts_with("crates"))
        .map(Path::to_path_buf)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found() {
        let line = "see [a](docs/a.md#part), [b](https://x.y/z) and [c](#here), [d](d.md)";
        assert_eq!(links(line).collect::<Vec<_>>(), ["docs/a.md", "d.md"]);
    }
}
