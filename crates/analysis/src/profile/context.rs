//! The calling-context tree: every call chain of a profile, shared from the outermost caller on.
//!
//! A child is called by its parent. A producer inserts a chain from the outermost frame to the innermost and keeps
//! the last node; the path from that node to the root then reads innermost first, as the kernel records chains.

use rustc_hash::FxHashMap;

use super::{FrameId, NodeId};

/// All call chains as one tree of interned nodes.
///
/// ```
/// use oxperf_analysis::profile::{ContextTree, FrameId};
/// let (main, work) = (FrameId(0), FrameId(1));
/// let mut tree = ContextTree::default();
/// let chain = tree.insert([main, work]);
/// assert_eq!(tree.insert([main, work]), chain);
/// assert_eq!(tree.path_to_root(chain).collect::<Vec<_>>(), [work, main]);
/// ```
#[derive(Debug, Default)]
pub struct ContextTree {
    /// The nodes but the root: node `n` stands at `n - 1`.
    nodes: Vec<Node>,
    children: FxHashMap<(NodeId, FrameId), NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: NodeId,
    frame: FrameId,
}

impl ContextTree {
    /// The empty chain.
    pub const ROOT: NodeId = NodeId(0);

    /// The node for `frame` called from `parent`, made if it is new.
    ///
    /// A tree of more than `u32::MAX` nodes is refused by giving `parent` back: the chain stays cut there.
    #[inline]
    pub fn child(&mut self, parent: NodeId, frame: FrameId) -> NodeId {
        let Ok(next) = u32::try_from(self.nodes.len() + 1) else { return parent };
        let node = *self.children.entry((parent, frame)).or_insert(NodeId(next));
        if node.0 == next {
            self.nodes.push(Node { parent, frame });
        }
        node
    }

    /// The node of a whole chain, given from the outermost caller to the innermost frame.
    pub fn insert(&mut self, outermost_first: impl IntoIterator<Item = FrameId>) -> NodeId {
        outermost_first.into_iter().fold(Self::ROOT, |node, frame| self.child(node, frame))
    }

    /// The caller's node and the node's own frame; `None` for the root and for a foreign id.
    #[inline]
    pub fn node(&self, node: NodeId) -> Option<(NodeId, FrameId)> {
        let node = self.nodes.get((node.0 as usize).checked_sub(1)?)?;
        Some((node.parent, node.frame))
    }

    /// The frames of a chain, innermost first.
    #[inline]
    pub fn path_to_root(&self, node: NodeId) -> PathToRoot<'_> {
        PathToRoot { tree: self, node }
    }

    /// Number of nodes without the root.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no chain at all.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Gives back the memory that only insertion needs; later insertions no longer find the nodes so far.
    pub fn seal(&mut self) {
        self.children = FxHashMap::default();
    }
}

/// Iterates over a chain from the innermost frame outwards.
#[derive(Clone, Debug)]
pub struct PathToRoot<'a> {
    tree: &'a ContextTree,
    node: NodeId,
}

impl Iterator for PathToRoot<'_> {
    type Item = FrameId;

    #[inline]
    fn next(&mut self) -> Option<FrameId> {
        let (parent, frame) = self.tree.node(self.node)?;
        self.node = parent;
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_share_their_callers() {
        let mut tree = ContextTree::default();
        let left = tree.insert([FrameId(0), FrameId(1), FrameId(2)]);
        let right = tree.insert([FrameId(0), FrameId(1), FrameId(3)]);
        assert_ne!(left, right);
        assert_eq!(tree.len(), 4);
        assert_eq!(tree.node(left).map(|n| n.0), tree.node(right).map(|n| n.0));
    }

    #[test]
    fn the_root_and_foreign_ids_are_empty_chains() {
        let tree = ContextTree::default();
        assert_eq!(tree.path_to_root(ContextTree::ROOT).count(), 0);
        assert_eq!(tree.path_to_root(NodeId(77)).count(), 0);
    }
}
