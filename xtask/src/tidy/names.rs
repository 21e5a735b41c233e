//! Public names: one name means one thing, so no two crates have a public type of one name, unless the pair is listed
//! in `xtask/shared-names.tsv` with its reason.

use std::collections::{BTreeMap, BTreeSet};

use super::Findings;
use super::parsed::Parsed;

/// The list: a name and the reason why several crates have it, a line each.
const SHARED: &str = include_str!("../../shared-names.tsv");

/// Not a part of the program: names of the crates for tests stand beside theirs.
const TEST_CRATES: [&str; 1] = ["testkit"];

/// Refuses a second public type of a name in another crate.
pub(super) fn check(files: &[Parsed], findings: &mut Findings) {
    let mut names: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for file in files
        .iter()
        .filter(|file| !TEST_CRATES.contains(&&*file.krate))
    {
        for name in file.syntax.items.iter().filter_map(public_type) {
            names.entry(name).or_default().insert(&file.krate);
        }
    }
    let listed = listed();
    let several = names.iter().filter(|(_, crates)| crates.len() > 1);
    for (name, crates) in several.filter(|(name, _)| !listed.contains(name.as_str())) {
        let crates: Vec<&str> = crates.iter().copied().collect();
        findings.broken(
            crates.join(", "),
            format!("public types of one name, {name}: one name means one thing"),
        );
    }
    let is_shared = |name: &&str| names.get(*name).is_some_and(|crates| crates.len() > 1);
    for name in listed.iter().filter(|name| !is_shared(name)) {
        findings.broken(
            "xtask/shared-names.tsv",
            format!("{name} is in one crate alone"),
        );
    }
}

fn listed() -> BTreeSet<&'static str> {
    let lines = SHARED.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split('\t').next())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns the name of a public type or trait.
fn public_type(item: &syn::Item) -> Option<String> {
    let (visibility, name) = match item {
        syn::Item::Struct(item) => (&item.vis, &item.ident),
        syn::Item::Enum(item) => (&item.vis, &item.ident),
        syn::Item::Trait(item) => (&item.vis, &item.ident),
        syn::Item::Type(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, syn::Visibility::Public(_)).then(|| name.to_string())
}
