//! Taking out stacks too small to see, so that a page of millions of distinct stacks stays loadable.

use super::{FlameFrame, FlameKind, FlameNode, FlameTree, FlameWeight};

/// Name of the node that stands for the stacks taken out below one caller.
const FOLDED_NAME: &str = "[small stacks, folded]";

/// One part in this many of the whole: the first limit that is tried (0.001%).
const FIRST_LIMIT_DIVISOR: u64 = 100_000;

/// What was taken out of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Number of nodes taken out.
    pub nodes: u64,
    /// Nodes whose total was below this were taken out.
    pub limit: u64,
    /// What the nodes that stand for them weigh.
    pub weight: FlameWeight,
}

impl FlameTree {
    /// Folds the smallest stacks until at most `max_nodes` nodes are left; a smaller tree stays as it is.
    ///
    /// The limit starts at 0.001% of the whole and doubles. Below each caller the stacks that fall under it become one
    /// node, so that every total stays what it was. A tree with more outermost nodes than `max_nodes` can end above it
    /// by one node.
    ///
    /// Gives the node that now holds the weight of each node that was; `None` where nothing was folded.
    pub fn fold(&mut self, max_nodes: usize) -> Option<Vec<u32>> {
        if self.nodes.len() <= max_nodes {
            return None;
        }
        let whole = self.total().value;
        let mut limit = (whole / FIRST_LIMIT_DIVISOR).max(1);
        while limit < whole && self.nodes_left(limit) > max_nodes {
            limit = limit.saturating_mul(2);
        }
        Some(self.fold_below(limit))
    }

    /// Number of nodes after folding below `limit`.
    fn nodes_left(&self, limit: u64) -> usize {
        let mut stand_in = vec![false; self.nodes.len() + 1];
        let mut left = 0;
        for node in &self.nodes {
            if node.total.value >= limit {
                left += 1;
            } else if self.parent_is_kept(node, limit) {
                left += usize::from(!std::mem::replace(&mut stand_in[slot(node.parent)], true));
            }
        }
        left
    }

    fn parent_is_kept(&self, node: &FlameNode, limit: u64) -> bool {
        match node.parent {
            None => true,
            Some(parent) => self
                .nodes
                .get(parent as usize)
                .is_some_and(|p| p.total.value >= limit),
        }
    }

    fn fold_below(&mut self, limit: u64) -> Vec<u32> {
        let frame = self.folded_frame();
        let mut folding = Folding::new(self.nodes.len(), frame, limit);
        for node in &self.nodes {
            folding.take(node);
        }
        self.nodes = folding.kept;
        self.folded = Some(folding.folded);
        folding.moved.into_iter().map(Moved::node).collect()
    }

    /// Adds the frame that stands for folded stacks.
    fn folded_frame(&mut self) -> u32 {
        let name = self.names.len() as u32;
        self.names.push(FOLDED_NAME.to_owned());
        self.frames.push(FlameFrame {
            name,
            dso: None,
            kind: FlameKind::Folded,
        });
        (self.frames.len() - 1) as u32
    }
}

/// Where the weight of a node of the old tree is in the new one.
#[derive(Clone, Copy)]
enum Moved {
    /// In the same node, of this number.
    Kept(u32),
    /// In this node, which stands for it and others.
    Folded(u32),
}

impl Moved {
    fn node(self) -> u32 {
        match self {
            Moved::Kept(node) | Moved::Folded(node) => node,
        }
    }
}

/// One pass over the nodes, parents first.
struct Folding {
    frame: u32,
    kept: Vec<FlameNode>,
    /// Where each node of the old tree went.
    moved: Vec<Moved>,
    /// The node that stands for what was folded below each old node; the first slot is for the outermost level.
    stand_ins: Vec<Option<u32>>,
    folded: Folded,
}

impl Folding {
    fn new(nodes: usize, frame: u32, limit: u64) -> Self {
        Folding {
            frame,
            kept: Vec::new(),
            moved: Vec::with_capacity(nodes),
            stand_ins: vec![None; nodes + 1],
            folded: Folded {
                limit,
                ..Folded::default()
            },
        }
    }

    fn take(&mut self, node: &FlameNode) {
        let caller = node
            .parent
            .and_then(|parent| self.moved.get(parent as usize).copied());
        let moved = match caller {
            Some(Moved::Folded(stand_in)) => self.drop_node(stand_in),
            _ if node.total.value < self.folded.limit => {
                self.stand_in(node, caller.map(Moved::node))
            }
            _ => Moved::Kept(self.push(FlameNode {
                parent: caller.map(Moved::node),
                ..*node
            })),
        };
        self.moved.push(moved);
    }

    /// Counts a node whose weight is in a stand-in.
    fn drop_node(&mut self, stand_in: u32) -> Moved {
        self.folded.nodes += 1;
        Moved::Folded(stand_in)
    }

    /// Adds a node's total to the stand-in below its caller.
    fn stand_in(&mut self, node: &FlameNode, parent: Option<u32>) -> Moved {
        let slot = slot(node.parent);
        let index = match self.stand_ins[slot] {
            Some(index) => index,
            None => self.push(FlameNode {
                parent,
                frame: self.frame,
                own: FlameWeight::default(),
                total: FlameWeight::default(),
            }),
        };
        self.stand_ins[slot] = Some(index);
        if let Some(stand_in) = self.kept.get_mut(index as usize) {
            stand_in.own.add(node.total);
            stand_in.total.add(node.total);
        }
        self.folded.weight.add(node.total);
        self.drop_node(index)
    }

    fn push(&mut self, node: FlameNode) -> u32 {
        self.kept.push(node);
        (self.kept.len() - 1) as u32
    }
}

/// The slot of a caller in a table with one more slot than nodes: the first is for the outermost level.
fn slot(parent: Option<u32>) -> usize {
    parent.map_or(0, |parent| parent as usize + 1)
}
