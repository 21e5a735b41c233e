//! The calling-context tree: every call chain of a profile, shared from the outermost caller on.
//!
//! A producer inserts a chain from the outermost frame to the innermost and keeps its node; the path from that node to
//! the root then reads innermost first, as the kernel records chains.

use super::paths::PathTree;
use super::{FrameId, NodeId};

/// All call chains as one tree. A node is a run of frames without a fork, and stands for the chain that ends with it.
///
/// ```
/// use oxperf_profile::{ContextTree, FrameId};
/// let (main, work) = (FrameId(0), FrameId(1));
/// let mut tree = ContextTree::default();
/// let chain = tree.insert(&[main, work]);
/// assert_eq!(tree.insert(&[main, work]), chain);
/// assert_eq!(tree.path_to_root(chain).collect::<Vec<_>>(), [work, main]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContextTree {
    paths: PathTree<FrameId>,
}

impl ContextTree {
    /// The empty chain.
    pub const ROOT: NodeId = PathTree::<FrameId>::ROOT;

    /// The node of a whole chain, given from the outermost caller to the innermost frame.
    ///
    /// A tree that outgrows its 32-bit numbers cuts what is new.
    pub fn insert(&mut self, outermost_first: &[FrameId]) -> NodeId {
        self.paths.insert(outermost_first)
    }

    /// The caller's node and the node's own frames, outermost first; `None` for the root and for a foreign id.
    #[inline]
    pub fn node(&self, node: NodeId) -> Option<(NodeId, &[FrameId])> {
        Some((self.paths.parent(node)?, self.paths.run(node)))
    }

    /// The frames of a chain, innermost first.
    #[inline]
    pub fn path_to_root(&self, node: NodeId) -> PathToRoot<'_> {
        PathToRoot {
            tree: self,
            node,
            run: &[],
        }
    }

    /// Number of node ids, that of the root included.
    pub fn node_count(&self) -> usize {
        self.paths.node_count()
    }

    /// True if there is no chain at all.
    pub fn is_empty(&self) -> bool {
        self.paths.item_count() == 0
    }

    /// Gives back the memory that only insertion needs; later insertions no longer find the nodes so far.
    pub fn seal(&mut self) {
        self.paths.seal();
    }
}

/// Iterates over a chain from the innermost frame outwards.
#[derive(Clone, Debug)]
pub struct PathToRoot<'a> {
    tree: &'a ContextTree,
    /// The node whose frames come when those of `run` have come.
    node: NodeId,
    run: &'a [FrameId],
}

impl Iterator for PathToRoot<'_> {
    type Item = FrameId;

    #[inline]
    fn next(&mut self) -> Option<FrameId> {
        if self.run.is_empty() {
            (self.node, self.run) = self.tree.node(self.node)?;
        }
        let (&frame, outer) = self.run.split_last()?;
        self.run = outer;
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_share_their_callers() {
        let mut tree = ContextTree::default();
        let left = tree.insert(&[FrameId(0), FrameId(1), FrameId(2)]);
        let right = tree.insert(&[FrameId(0), FrameId(1), FrameId(3)]);
        assert_ne!(left, right);
        assert_eq!(tree.node(left).map(|n| n.0), tree.node(right).map(|n| n.0));
        assert_eq!(
            tree.path_to_root(right).collect::<Vec<_>>(),
            [FrameId(3), FrameId(1), FrameId(0)]
        );
    }

    #[test]
    fn the_root_and_foreign_ids_are_empty_chains() {
        let tree = ContextTree::default();
        assert_eq!(tree.path_to_root(ContextTree::ROOT).count(), 0);
        assert_eq!(tree.path_to_root(NodeId(77)).count(), 0);
    }
}
