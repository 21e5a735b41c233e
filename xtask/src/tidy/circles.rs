//! Circles of files: files of a crate that use each other, straight or by way of others. A parent and its child may
//! know each other; anything else is a tangle.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::parsed::Parsed;

/// A file as a node: its number, and those it uses.
type Graph = Vec<BTreeSet<usize>>;

/// Prints each circle of files that is no parent with its child.
pub(super) fn print(files: &[Parsed]) {
    let mut crates: BTreeMap<&str, Vec<&Parsed>> = BTreeMap::new();
    for file in files {
        crates.entry(&file.krate).or_default().push(file);
    }
    let mut count = 0;
    for files in crates.values() {
        let graph = graph(files);
        for circle in circles(&graph) {
            count += 1;
            let names: Vec<String> = circle
                .iter()
                .map(|file| files[*file].path.display().to_string())
                .collect();
            println!("figure: circle of {}: {}", names.len(), names.join(" "));
        }
    }
    println!("figure: circles of files: {count}");
}

/// Builds the uses of the files of a crate, without those between parents and children.
fn graph(files: &[&Parsed]) -> Graph {
    let modules: BTreeMap<&[String], usize> = files
        .iter()
        .enumerate()
        .map(|(number, file)| (&file.module[..], number))
        .collect();
    let uses = |(number, file): (usize, &&Parsed)| {
        let mut uses = Uses {
            modules: &modules,
            module: &file.module,
            found: BTreeSet::new(),
        };
        uses.visit_file(&file.syntax);
        let is_kin = |other: usize| kin(&file.module, &files[other].module);
        uses.found
            .into_iter()
            .filter(|other| *other != number && !is_kin(*other))
            .collect()
    };
    files.iter().enumerate().map(uses).collect()
}

/// Returns true where one module lies in the other.
fn kin(one: &[String], other: &[String]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Finds the files that a file uses.
struct Uses<'m> {
    modules: &'m BTreeMap<&'m [String], usize>,
    module: &'m [String],
    found: BTreeSet<usize>,
}

impl Uses<'_> {
    /// Adds the file of the innermost module that a path from this file leads through.
    fn path(&mut self, names: &[String]) {
        let Some(absolute) = self.absolute(names) else {
            return;
        };
        let longest = (1..=absolute.len()).rev();
        let mut files = longest.filter_map(|length| self.modules.get(&absolute[..length]));
        if let Some(file) = files.next() {
            self.found.insert(*file);
        }
    }

    fn absolute(&self, names: &[String]) -> Option<Vec<String>> {
        let (first, rest) = names.split_first()?;
        let mut base = match first.as_str() {
            "crate" => Vec::new(),
            "self" => self.module.to_vec(),
            "super" => self.module.split_last()?.1.to_vec(),
            _ => return None,
        };
        for name in rest {
            match name.as_str() {
                "super" => {
                    base.pop()?;
                }
                name => base.push(name.to_owned()),
            }
        }
        Some(base)
    }

    fn tree(&mut self, before: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(before, &path.tree);
                before.pop();
            }
            syn::UseTree::Name(name) => self.leaf(before, &name.ident),
            syn::UseTree::Rename(rename) => self.leaf(before, &rename.ident),
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.tree(before, item))
            }
        }
    }

    fn leaf(&mut self, before: &[String], last: &syn::Ident) {
        let mut names = before.to_vec();
        if last != "self" {
            names.push(last.to_string());
        }
        self.path(&names);
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        // Inline modules are tests, which may use everything.
        if module.content.is_none() {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // What a parent hands on is not a use of it.
        if matches!(item.vis, syn::Visibility::Inherited) {
            self.tree(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if names.len() > 1 {
            self.path(&names);
        }
        visit::visit_path(self, path);
    }
}

/// Returns the groups of nodes that reach each other, those of one node left out.
fn circles(graph: &Graph) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..graph.len())
        .map(|node| reachable(graph, node))
        .collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for node in 0..graph.len() {
        if seen.contains(&node) || !reach[node].contains(&node) {
            continue;
        }
        let members = reach[node].iter().copied();
        let circle: Vec<usize> = members
            .filter(|other| reach[*other].contains(&node))
            .collect();
        seen.extend(circle.iter().copied());
        circles.push(circle);
    }
    circles
}

fn reachable(graph: &Graph, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = graph[from].iter().copied().collect();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(graph[node].iter().copied());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_are_a_circle() {
        let graph = [vec![1], vec![2], vec![1], vec![0]];
        let graph: Graph = graph.into_iter().map(BTreeSet::from_iter).collect();
        assert_eq!(circles(&graph), [[1, 2]]);
    }
}
