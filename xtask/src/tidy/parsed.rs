//! The sources of the crates, parsed once for every check that looks at their shape.

use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};

use super::Source;

/// A file below `crates/NAME/src`.
pub(super) struct Parsed {
    /// Relative to the root of the project.
    pub(super) path: PathBuf,
    /// The folder's name below `crates`.
    pub(super) krate: String,
    /// The names of the modules from the crate's root to this one.
    pub(super) module: Vec<String>,
    pub(super) lines: usize,
    pub(super) syntax: syn::File,
    /// The documentation lines, with their numbers.
    pub(super) docs: Vec<(usize, String)>,
}

/// Parses the sources of all crates; what does not parse is left to the compiler.
pub(super) fn parse(sources: &[Source]) -> Vec<Parsed> {
    sources.iter().filter_map(one).collect()
}

fn one(source: &Source) -> Option<Parsed> {
    let parts: Vec<&str> = source.path.to_str()?.split('/').collect();
    let [crates, krate, src, below @ ..] = &parts[..] else {
        return None;
    };
    if (*crates, *src) != ("crates", "src") {
        return None;
    }
    Some(Parsed {
        path: source.path.clone(),
        krate: (*krate).to_owned(),
        module: module(below),
        lines: source.text.lines().count(),
        syntax: syn::parse_file(&source.text).ok()?,
        docs: docs(&source.text),
    })
}

/// Returns the path of the module that a file below `src` holds.
fn module(below: &[&str]) -> Vec<String> {
    let names = below.iter().map(|name| name.trim_end_matches(".rs"));
    let names = names.filter(|name| !matches!(*name, "lib" | "main"));
    names.map(str::to_owned).collect()
}

fn docs(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate();
    let docs = lines.filter_map(|(number, line)| {
        let line = line.trim_start();
        let doc = line
            .strip_prefix("/// ")
            .or_else(|| line.strip_prefix("//! "))?;
        Some((number + 1, doc.to_owned()))
    });
    docs.collect()
}

/// Counts tokens, those in brackets included; a pair of brackets counts two.
pub(super) fn tokens(stream: TokenStream) -> usize {
    let count = |tree| match tree {
        TokenTree::Group(group) => 2 + tokens(group.stream()),
        _ => 1,
    };
    stream.into_iter().map(count).sum()
}
