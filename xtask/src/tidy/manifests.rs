//! Manifests: every crate but `sys`, `dlfilter` and `workloads` lives under the workspace's lints, which forbid unsafe code.

use super::{Findings, Source};

/// The only crates that may hold unsafe code.
const UNSAFE_CRATES: [&str; 3] = ["crates/sys/", "crates/dlfilter/", "crates/workloads/"];

/// Checks the root manifest and every crate's.
pub(super) fn check(manifests: &[Source], findings: &mut Findings) {
    for manifest in manifests
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
    {
        let place = manifest.path.display();
        if manifest.path.as_os_str() == "Cargo.toml" {
            check_root(manifest, findings);
        } else if !has_lints(&manifest.text)
            && !UNSAFE_CRATES
                .iter()
                .any(|place| manifest.path.starts_with(place))
            && is_member(manifest)
        {
            findings.broken(
                place,
                "does not take the workspace's lints ([lints] workspace = true)",
            );
        }
    }
}

fn check_root(manifest: &Source, findings: &mut Findings) {
    for rule in ["unsafe_code = \"forbid\"", "missing_docs = \"deny\""] {
        if !manifest.text.contains(rule) {
            findings.broken(manifest.path.display(), format!("{rule} is missing"));
        }
    }
}

fn has_lints(text: &str) -> bool {
    let section = text
        .split("\n[")
        .find(|section| section.starts_with("lints]"));
    section.is_some_and(|section| section.contains("workspace = true"))
}

/// What only some tasks build: fuzz targets for cargo-fuzz, another reader for `bench decode`, the SQL engine.
const OWN_WORKSPACES: [&str; 3] = ["fuzz", "xtask/peer", "query"];

fn is_member(manifest: &Source) -> bool {
    !OWN_WORKSPACES
        .iter()
        .any(|folder| manifest.path.starts_with(folder))
}
