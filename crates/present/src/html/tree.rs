//! A call tree as few bytes: nodes in the order of a walk, children widest first, small numbers for frequent frames.
//!
//! Each node is, in [`Numbers`]:
//!
//! 1. how many levels it stands above a child of the node before it (0: it is that child);
//! 2. its frame;
//! 3. its own weight, against the mean period.
//!
//! Totals are not stored: the page sums them up.

use oxperf_analysis::flame::{FlameKind, FlameNode, FlameTree};

use super::numbers::Numbers;

/// A tree ready to be put into a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    /// The nodes.
    pub(crate) bytes: Vec<u8>,
    /// Number of nodes.
    pub(crate) nodes: usize,
    /// The number that the page gives each of the tree's nodes; 0, its own for the whole, for one left out.
    pub(crate) places: Vec<u32>,
    /// The mean period that values are written against.
    pub(crate) mean: u64,
    /// The frames in use, the most frequent first.
    pub(crate) frames: Vec<EncodedFrame>,
    /// The names in use, as indices into the tree's; frames go by the place here.
    pub(crate) names: Vec<u32>,
}

/// A frame as the page reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EncodedFrame {
    /// Place in [`Encoded::names`].
    pub(crate) name: u32,
    /// Index of the object plus one; 0 when there is none.
    pub(crate) dso: u64,
    /// 0 thread, 1 function, 2 unresolved, 3 folded.
    pub(crate) kind: u8,
}

/// Encodes a tree. Nodes that no outermost node leads to, or whose frame is not in the table, are left out.
pub(crate) fn encode(tree: &FlameTree) -> Encoded {
    let ranks = Ranks::new(tree);
    let total = tree.total();
    let mean = total.value.checked_div(total.samples).unwrap_or(0);
    let numbers = Numbers::with_capacity(tree.nodes.len() * 5);
    let mut walk = Walk {
        numbers,
        nodes: 0,
        mean,
        depth: 0,
    };
    let mut places = vec![0; tree.nodes.len()];
    let children = Children::new(tree);
    let mut stack: Vec<(u32, u32)> = children
        .of(None)
        .iter()
        .rev()
        .map(|&root| (root, 1))
        .collect();
    while let Some((index, depth)) = stack.pop() {
        let Some(node) = tree.nodes.get(index as usize) else {
            continue;
        };
        let Some(frame) = ranks.of(node.frame) else {
            continue;
        };
        walk.put(node, frame, depth);
        if let Some(place) = places.get_mut(index as usize) {
            *place = walk.nodes;
        }
        stack.extend(
            children
                .of(Some(index))
                .iter()
                .rev()
                .map(|&child| (child, depth + 1)),
        );
    }
    let (frames, names) = ranks.tables(tree);
    Encoded {
        bytes: walk.numbers.bytes,
        nodes: walk.nodes as usize,
        places,
        mean,
        frames,
        names,
    }
}

struct Walk {
    numbers: Numbers,
    nodes: u32,
    mean: u64,
    /// Level of the node before; the page's own node for the whole has level 0.
    depth: u32,
}

impl Walk {
    fn put(&mut self, node: &FlameNode, frame: u32, depth: u32) {
        self.numbers.put(u64::from(self.depth + 1 - depth));
        self.numbers.put(u64::from(frame));
        self.numbers.put_weight(node.own, self.mean);
        self.depth = depth;
        self.nodes += 1;
    }
}

/// For each node its children, the widest first.
struct Children {
    /// The index in `list` where each caller's children begin; the first slot is for the outermost level.
    first: Vec<u32>,
    list: Vec<u32>,
}

impl Children {
    fn new(tree: &FlameTree) -> Self {
        let mut first = vec![0; tree.nodes.len() + 2];
        for node in &tree.nodes {
            if let Some(count) = first.get_mut(slot(node) + 1) {
                *count += 1;
            }
        }
        for slot in 1..first.len() {
            first[slot] += first[slot - 1];
        }
        let mut children = Children {
            list: list(tree, &first),
            first,
        };
        children.sort(tree);
        children
    }

    fn sort(&mut self, tree: &FlameTree) {
        let order = |&child: &u32| {
            tree.nodes
                .get(child as usize)
                .map(|node| (std::cmp::Reverse(node.total.value), node.frame))
        };
        for slot in self.first.windows(2) {
            if let [from, to @ ..] = slot
                && let Some(siblings) = to
                    .first()
                    .and_then(|&to| self.list.get_mut(*from as usize..to as usize))
                && siblings.len() > 1
            {
                siblings.sort_by_key(order);
            }
        }
    }

    fn of(&self, parent: Option<u32>) -> &[u32] {
        let slot = parent.map_or(0, |parent| parent as usize + 1);
        match (self.first.get(slot), self.first.get(slot + 1)) {
            (Some(&from), Some(&to)) => self
                .list
                .get(from as usize..to as usize)
                .unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Every node in its caller's place.
fn list(tree: &FlameTree, first: &[u32]) -> Vec<u32> {
    let mut next = first.to_vec();
    let mut list = vec![0; first.last().copied().unwrap_or(0) as usize];
    for (index, node) in (0..).zip(&tree.nodes) {
        if let Some(at) = next.get_mut(slot(node))
            && let Some(place) = list.get_mut(*at as usize)
        {
            *place = index;
            *at += 1;
        }
    }
    list
}

fn slot(node: &FlameNode) -> usize {
    node.parent.map_or(0, |parent| parent as usize + 1)
}

/// Frames numbered by how often nodes name them.
struct Ranks {
    /// Frames of the tree in their new order.
    order: Vec<u32>,
    /// New number of each of the tree's frames.
    rank: Vec<u32>,
}

impl Ranks {
    fn new(tree: &FlameTree) -> Self {
        let mut uses = vec![0_u32; tree.frames.len()];
        for node in &tree.nodes {
            if let Some(uses) = uses.get_mut(node.frame as usize) {
                *uses += 1;
            }
        }
        let mut order: Vec<u32> = (0..)
            .zip(&uses)
            .filter(|(_, uses)| **uses > 0)
            .map(|(frame, _)| frame)
            .collect();
        order.sort_by_key(|&frame| (std::cmp::Reverse(uses[frame as usize]), frame));
        let mut rank = vec![0; uses.len()];
        for (new, &frame) in (0..).zip(&order) {
            rank[frame as usize] = new;
        }
        Ranks { order, rank }
    }

    fn of(&self, frame: u32) -> Option<u32> {
        self.rank.get(frame as usize).copied()
    }

    /// The frames in their new order, and the names that they use.
    fn tables(&self, tree: &FlameTree) -> (Vec<EncodedFrame>, Vec<u32>) {
        let mut names = Vec::new();
        let mut place = vec![None; tree.names.len()];
        let frames = self
            .order
            .iter()
            .filter_map(|&frame| tree.frames.get(frame as usize));
        let frames = frames.map(|frame| EncodedFrame {
            name: place_of(frame.name, &mut place, &mut names),
            dso: frame
                .dso
                .filter(|&dso| (dso as usize) < tree.dsos.len())
                .map_or(0, |dso| u64::from(dso) + 1),
            kind: kind(frame.kind),
        });
        (frames.collect(), names)
    }
}

/// Place of a name among those in use; added when it is new.
fn place_of(name: u32, place: &mut [Option<u32>], names: &mut Vec<u32>) -> u32 {
    let next = names.len() as u32;
    let known = place
        .get_mut(name as usize)
        .map(|place| *place.get_or_insert(next));
    if known.is_none_or(|known| known == next) {
        names.push(name);
    }
    known.unwrap_or(next)
}

fn kind(kind: FlameKind) -> u8 {
    match kind {
        FlameKind::Thread => 0,
        FlameKind::Function => 1,
        FlameKind::Unresolved => 2,
        FlameKind::Folded => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_analysis::flame::{FlameFrame, FlameWeight};

    fn node(parent: Option<u32>, frame: u32, value: u64, samples: u64) -> FlameNode {
        FlameNode {
            parent,
            frame,
            own: FlameWeight { value, samples },
            total: FlameWeight::default(),
        }
    }

    fn tree(nodes: Vec<FlameNode>) -> FlameTree {
        let frame = |name| FlameFrame {
            name,
            dso: None,
            kind: FlameKind::Function,
        };
        let names = ["a", "b", "c"].map(str::to_owned).into();
        let mut tree = FlameTree {
            names,
            frames: (0..3).map(frame).collect(),
            nodes,
            ..FlameTree::default()
        };
        tree.sum_totals();
        tree
    }

    #[test]
    fn children_follow_their_caller_widest_first() {
        let tree = tree(vec![
            node(None, 2, 0, 0),
            node(Some(0), 1, 10, 1),
            node(Some(0), 0, 20, 2),
            node(Some(2), 1, 31, 3),
        ]);
        let encoded = encode(&tree);
        assert_eq!(encoded.mean, 10);
        assert_eq!(encoded.names, [1, 0, 2], "the most frequent frame first");
        assert_eq!(encoded.places, [1, 4, 2, 3]);
        #[rustfmt::skip]
        assert_eq!(encoded.bytes, [
            0, 2, 0,       // c
            0, 1, 4,       // c;a 20
            0, 0, 7, 2,    // c;a;b 31: one above three times the mean
            2, 0, 2,       // c;b 10
        ]);
    }

    #[test]
    fn nodes_that_lead_nowhere_are_left_out() {
        let tree = tree(vec![
            node(None, 0, 1, 1),
            node(Some(77), 0, 1, 1),
            node(Some(2), 0, 1, 1),
            node(None, 9, 1, 1),
        ]);
        assert_eq!(encode(&tree).nodes, 1);
    }
}
