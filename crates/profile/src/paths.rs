//! Paths that share their beginnings, as a tree whose nodes hold runs of items.
//!
//! A node stands for a run without a fork, not for a single item: where most paths go their own way after a few items,
//! that takes a table entry a path and four bytes an item. A node's id means the end of its run, and stays when a later
//! path forks off within the run.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::NodeId;

/// The tree.
#[derive(Clone, Debug)]
pub struct PathTree<T> {
    /// The nodes but the root: node `n` stands at `n - 1`.
    nodes: Vec<Run>,
    /// The items of all nodes. A run that was cut in two lies where it lay.
    items: Vec<T>,
    /// The node that goes on from a node with an item.
    next: FxHashMap<(NodeId, T), NodeId>,
}

/// A node: where it goes on from, and its items.
#[derive(Clone, Copy, Debug)]
struct Run {
    parent: NodeId,
    start: u32,
    end: u32,
}

impl<T> Default for PathTree<T> {
    fn default() -> PathTree<T> {
        PathTree {
            nodes: Vec::new(),
            items: Vec::new(),
            next: FxHashMap::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> PathTree<T> {
    /// The empty path.
    pub const ROOT: NodeId = NodeId(0);

    /// The node at the end of a path.
    ///
    /// A tree that outgrows its 32-bit numbers gives a node further up: the path stays cut there.
    pub fn insert(&mut self, path: &[T]) -> NodeId {
        let (mut node, mut rest) = (Self::ROOT, path);
        while let Some(&first) = rest.first() {
            let next = match self.next.entry((node, first)) {
                Entry::Occupied(next) => *next.get(),
                Entry::Vacant(unknown) => {
                    let Some(new) = Self::add(&mut self.nodes, &mut self.items, node, rest) else {
                        return node;
                    };
                    return *unknown.insert(new);
                }
            };
            let run = self.run(next);
            let common = run.iter().zip(rest).take_while(|(a, b)| a == b).count();
            if common < run.len() {
                let Some(fork) = self.cut(node, next, common) else {
                    return node;
                };
                node = fork;
            } else {
                node = next;
            }
            rest = rest.get(common..).unwrap_or_default();
        }
        node
    }

    /// A new node below another.
    fn add(nodes: &mut Vec<Run>, items: &mut Vec<T>, parent: NodeId, run: &[T]) -> Option<NodeId> {
        let start = u32::try_from(items.len()).ok()?;
        let end = u32::try_from(items.len() + run.len()).ok()?;
        let node = push(nodes, Run { parent, start, end })?;
        items.extend_from_slice(run);
        Some(node)
    }

    /// Makes a node of the first items of `below`, which goes on from `above`.
    fn cut(&mut self, above: NodeId, below: NodeId, count: usize) -> Option<NodeId> {
        let whole = *self.nodes.get(below.index() - 1)?;
        let middle = whole.start + u32::try_from(count).ok()?;
        let (first, second) = (
            *self.items.get(whole.start as usize)?,
            *self.items.get(middle as usize)?,
        );
        let fork = push(
            &mut self.nodes,
            Run {
                parent: above,
                end: middle,
                ..whole
            },
        )?;
        self.nodes[below.index() - 1] = Run {
            parent: fork,
            start: middle,
            ..whole
        };
        self.next.insert((above, first), fork);
        self.next.insert((fork, second), below);
        Some(fork)
    }
}

fn push(nodes: &mut Vec<Run>, run: Run) -> Option<NodeId> {
    nodes.push(run);
    u32::try_from(nodes.len()).ok().map(NodeId)
}

impl<T> PathTree<T> {
    /// The node that a node goes on from; `None` for the root and for a foreign id.
    #[inline]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        Some(self.nodes.get(node.index().checked_sub(1)?)?.parent)
    }

    /// The items of a node; none of the root.
    #[inline]
    pub fn run(&self, node: NodeId) -> &[T] {
        let run = node
            .index()
            .checked_sub(1)
            .and_then(|index| self.nodes.get(index));
        run.and_then(|run| self.items.get(run.start as usize..run.end as usize))
            .unwrap_or_default()
    }

    /// The number of ids: the nodes and the root.
    pub fn node_count(&self) -> usize {
        self.nodes.len() + 1
    }

    /// The number of items.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Gives back the memory that only insertion needs; later insertions no longer find the nodes so far.
    pub fn seal(&mut self) {
        self.next = FxHashMap::default();
        self.items.shrink_to_fit();
        self.nodes.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(tree: &PathTree<char>, node: NodeId) -> String {
        let up = std::iter::successors(Some(node), |&node| tree.parent(node));
        let runs: Vec<String> = up.map(|node| tree.run(node).iter().collect()).collect();
        runs.into_iter().rev().collect()
    }

    fn tree_of(paths: &str) -> (PathTree<char>, Vec<NodeId>) {
        let mut tree = PathTree::default();
        let insert = |path: &str| tree.insert(&path.chars().collect::<Vec<_>>());
        let ids = paths.split(' ').map(insert).collect();
        (tree, ids)
    }

    #[test]
    fn paths_come_back_whatever_forks_off_later() {
        let paths = "abcd abce ab abcdef x abcd xy ac";
        let (tree, ids) = tree_of(paths);
        let back: Vec<String> = ids.iter().map(|&id| path(&tree, id)).collect();
        assert_eq!(back.join(" "), paths);
        assert_eq!(ids[0], ids[5]);
    }

    #[test]
    fn a_beginning_is_stored_once() {
        let (tree, _) = tree_of("abcd abce ab abcdef");
        assert_eq!(tree.item_count(), "abcdeef".len());
        assert_eq!(tree.node_count(), 1 + "ab c d e ef".split(' ').count());
    }

    #[test]
    fn foreign_ids_are_empty() {
        let (tree, _) = tree_of("ab");
        assert_eq!(
            (tree.parent(NodeId(7)), tree.run(NodeId(7)).len()),
            (None, 0)
        );
        assert_eq!(tree.parent(PathTree::<char>::ROOT), None);
    }
}
