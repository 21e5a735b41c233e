//! Every dependency's licence against the list in deny.toml, for machines without `cargo deny`.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Findings;
use crate::workspace;

/// Checks the licence expression of every package that the lock file holds.
pub(super) fn check(metadata: &Value, findings: &mut Findings) -> Result<()> {
    let path = workspace::root().join("deny.toml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let allowed = allow_list(&text).context("deny.toml has no [licenses] allow list")?;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        match package["license"].as_str() {
            Some(expression) if is_allowed(expression, &allowed) => {}
            Some(expression) => {
                findings.broken(name, format!("licence {expression:?} is not allowed"))
            }
            None => findings.broken(name, "names no licence"),
        }
    }
    Ok(())
}

/// The strings of `allow = [...]` below `[licenses]`.
fn allow_list(toml: &str) -> Option<Vec<String>> {
    let section = toml
        .split("\n[")
        .find(|section| section.starts_with("licenses]"))?;
    let list = section.split_once("allow = [")?.1.split_once(']')?.0;
    Some(
        list.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns true if the licence expression can be met with allowed licences: `OR` needs one side, `AND` both.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    either(&mut words.iter().copied().peekable(), allowed)
}

type Words<'a, I> = std::iter::Peekable<I>;

fn either<'a>(words: &mut Words<'a, impl Iterator<Item = &'a str>>, allowed: &[String]) -> bool {
    let mut met = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= both(words, allowed);
    }
    met
}

fn both<'a>(words: &mut Words<'a, impl Iterator<Item = &'a str>>, allowed: &[String]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one<'a>(words: &mut Words<'a, impl Iterator<Item = &'a str>>, allowed: &[String]) -> bool {
    match words.next() {
        Some("(") => {
            let met = either(words, allowed);
            words.next();
            met
        }
        Some(name) => {
            let exception = words.next_if_eq(&"WITH").and_then(|_| words.next());
            let full = exception.map_or(name.to_owned(), |exception| {
                format!("{name} WITH {exception}")
            });
            allowed.contains(&full)
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let allowed = ["MIT".to_owned(), "Zlib".to_owned()];
        assert!(is_allowed("MIT OR Apache-2.0", &allowed));
        assert!(is_allowed("MIT/Apache-2.0", &allowed));
        assert!(is_allowed("(MIT OR GPL-2.0) AND Zlib", &allowed));
        assert!(!is_allowed("MIT AND GPL-2.0", &allowed));
        assert!(!is_allowed("Apache-2.0 WITH LLVM-exception", &allowed));
        assert!(!is_allowed("", &allowed));
    }

    #[test]
    fn the_list_is_found() {
        let toml = "[bans]\nallow = [\"x\"]\n[licenses]\nallow = [\n  \"MIT\",\n  \"ISC\",\n]\n";
        assert_eq!(allow_list(toml).unwrap(), ["MIT", "ISC"]);
    }
}
