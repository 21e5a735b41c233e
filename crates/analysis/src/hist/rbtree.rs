//! A red-black tree that is only ever inserted into, told where by a comparison that need not be an order.
//!
//! perf keeps its rows in such a tree. One of its rules compares only rows of one thread, so that a can stand before
//! b, b before c and c before a; where a row then ends up depends on whom it met on its way down. To put rows where
//! perf puts them, they have to take the same way through the same tree.

use std::num::NonZeroU32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

/// A way to a node, in four bytes: the tree is large and walked at random.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Link(Option<NonZeroU32>);

impl Link {
    fn to(node: u32) -> Link {
        Link(NonZeroU32::new(node + 1))
    }

    fn get(self) -> Option<u32> {
        self.0.map(|link| link.get() - 1)
    }
}

/// A way up, and the colour of whoever goes it. What was never painted is red, as new nodes are.
#[derive(Clone, Copy, Default)]
struct Above(u32);

impl Above {
    const BLACK: u32 = 1 << 31;

    fn link(self) -> Link {
        Link(NonZeroU32::new(self.0 & !Self::BLACK))
    }

    fn is_red(self) -> bool {
        self.0 & Self::BLACK == 0
    }

    fn with(self, parent: Link) -> Above {
        Above(self.0 & Self::BLACK | parent.0.map_or(0, NonZeroU32::get))
    }

    fn painted(self, red: bool) -> Above {
        Above(self.0 & !Self::BLACK | if red { 0 } else { Self::BLACK })
    }
}

/// What the way down needs of an item, and nothing else: the tree is as large as the CPU's caches.
#[derive(Clone, Copy)]
struct Node<K> {
    key: K,
    below: [Link; 2],
}

impl<K> Node<K> {
    #[inline]
    fn child(&self, side: Side) -> Option<u32> {
        self.below[side as usize].get()
    }
}

/// Inserts items one after another, in the order of `arrivals`, and gives them in the tree's order. A new item goes left
/// of those it meets where `less(new, met)` says so of their keys and numbers; it has to of those that have a greater rank,
/// and must not of those that have a smaller one. An item is a number, its place in the list of ranks and keys; so are ranks.
///
/// Items that are numbered about as they will stand in the tree are quick: what is close together there is close together
/// in memory.
pub(crate) fn insertion_order<K: Copy>(
    arrivals: &[u32],
    items: impl ExactSizeIterator<Item = (u32, K)>,
    less: impl Fn((u32, &K), (u32, &K)) -> bool,
) -> Vec<u32> {
    let mut tree = Tree::new(items);
    let mut classes = classes(arrivals, &tree.ranks);
    for &new in arrivals {
        let rank = tree.rank(new);
        let Class { ends, below, above, .. } = classes[rank as usize];
        let place = match ends {
            None => tree.between([below, above].map(|rank| classes.get(rank as usize)?.ends)),
            Some(_) => tree.descend(new, &less),
        };
        classes[rank as usize].ends = Some(Ends::with(ends, new, rank, place, &tree));
        tree.attach(new, place);
        tree.balance(new);
    }
    tree.in_order()
}

/// The items of one rank.
#[derive(Clone, Copy)]
struct Class {
    /// The first to come.
    first: u32,
    /// The nearest ranks below and above that are in the tree when it comes.
    below: u32,
    above: u32,
    /// The outermost items that are in the tree.
    ends: Option<Ends>,
}

/// The first and the last item of one rank in the tree's order.
#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

impl Ends {
    /// The ends when a new item has its place.
    fn with<K: Copy>(
        known: Option<Ends>,
        new: u32,
        rank: u32,
        place: Option<(u32, Side)>,
        tree: &Tree<K>,
    ) -> Ends {
        let (Some(Ends { first, last }), Some((parent, side))) = (known, place) else {
            return Ends { first: new, last: new };
        };
        // The parent is the item right before or behind the new one.
        let other = tree.rank(parent) != rank;
        match side {
            Side::Left if parent == first => Ends { first: new, last },
            Side::Left if other => Ends { first, last: new },
            Side::Right if parent == last => Ends { first, last: new },
            Side::Right if other => Ends { first: new, last },
            _ => Ends { first, last },
        }
    }
}

/// The ranks, each with its neighbours when its first item comes.
///
/// That saves this item the way down: its place is between two items that are known. Found backwards, by taking ranks
/// out of a list of all.
fn classes(arrivals: &[u32], ranks: &[u32]) -> Vec<Class> {
    const NONE: u32 = u32::MAX;
    let mut classes = vec![Class { first: NONE, below: NONE, above: NONE, ends: None }; ranks.len()];
    for &item in arrivals.iter().rev() {
        classes[ranks[item as usize] as usize].first = item;
    }
    let mut before = NONE;
    for rank in 0..classes.len() as u32 {
        if classes[rank as usize].first != NONE {
            classes[rank as usize].below = before;
            if let Some(below) = classes.get_mut(before as usize) {
                below.above = rank;
            }
            before = rank;
        }
    }
    for &item in arrivals.iter().rev() {
        let Class { first, below, above, .. } = classes[ranks[item as usize] as usize];
        if first == item {
            if let Some(class) = classes.get_mut(below as usize) {
                class.above = above;
            }
            if let Some(class) = classes.get_mut(above as usize) {
                class.below = below;
            }
        }
    }
    classes
}

struct Tree<K> {
    nodes: Vec<Node<K>>,
    ranks: Vec<u32>,
    above: Vec<Above>,
    root: Option<u32>,
}

impl<K: Copy> Tree<K> {
    /// An empty tree for these items.
    fn new(items: impl ExactSizeIterator<Item = (u32, K)>) -> Tree<K> {
        let below = [Link::default(); 2];
        let (ranks, nodes): (Vec<u32>, Vec<Node<K>>) =
            items.map(|(rank, key)| (rank, Node { key, below })).unzip();
        Tree { above: vec![Above::default(); nodes.len()], nodes, ranks, root: None }
    }

    /// The place between two neighbours: one of them has nothing on that side.
    fn between(&self, [below, above]: [Option<Ends>; 2]) -> Option<(u32, Side)> {
        let behind =
            below.map(|below| below.last).filter(|&last| self.node(last).child(Side::Right).is_none());
        behind.map(|last| (last, Side::Right)).or(above.map(|above| (above.first, Side::Left)))
    }

    fn descend(&self, new: u32, less: impl Fn((u32, &K), (u32, &K)) -> bool) -> Option<(u32, Side)> {
        let key = self.node(new).key;
        let mut place = None;
        let mut at = self.root;
        while let Some(met) = at {
            let node = self.node(met);
            let side = if less((new, &key), (met, &node.key)) { Side::Left } else { Side::Right };
            place = Some((met, side));
            at = node.child(side);
        }
        place
    }

    fn attach(&mut self, new: u32, place: Option<(u32, Side)>) {
        match place {
            Some((parent, side)) => self.set_child(parent, side, Some(new)),
            None => self.root = Some(new),
        }
    }

    /// Restores the rule that a red node has a black parent, from `node` upwards.
    fn balance(&mut self, mut node: u32) {
        while let Some((parent, grandparent)) = self.red_parent(node) {
            let side = self.side(grandparent, parent);
            let uncle =
                self.node(grandparent).child(side.other()).filter(|&uncle| self.above(uncle).is_red());
            if let Some(uncle) = uncle {
                self.paint(parent, false);
                self.paint(uncle, false);
                self.paint(grandparent, true);
                node = grandparent;
                continue;
            }
            let mut top = parent;
            if self.side(parent, node) != side {
                self.rotate(parent, side);
                top = node;
            }
            self.paint(top, false);
            self.paint(grandparent, true);
            self.rotate(grandparent, side.other());
            break;
        }
        if let Some(root) = self.root {
            self.paint(root, false);
        }
    }

    /// The parent, if it is red, and its own parent.
    fn red_parent(&self, node: u32) -> Option<(u32, u32)> {
        let parent = self.above(node).link().get().filter(|&parent| self.above(parent).is_red())?;
        Some((parent, self.above(parent).link().get()?))
    }

    /// Moves a node down to `side`, its child of the other side up.
    fn rotate(&mut self, node: u32, side: Side) {
        let Some(up) = self.node(node).child(side.other()) else { return };
        let inner = self.node(up).child(side);
        let parent = self.above(node).link();
        match parent.get() {
            Some(parent) => self.set_child(parent, self.side(parent, node), Some(up)),
            None => self.root = Some(up),
        }
        self.hang(up, parent);
        self.set_child(node, side.other(), inner);
        self.set_child(up, side, Some(node));
    }

    fn set_child(&mut self, parent: u32, side: Side, child: Option<u32>) {
        let link = child.map(Link::to).unwrap_or_default();
        self.node_mut(parent).below[side as usize] = link;
        if let Some(child) = child {
            self.hang(child, Link::to(parent));
        }
    }

    fn hang(&mut self, child: u32, parent: Link) {
        let above = &mut self.above[child as usize];
        *above = above.with(parent);
    }

    fn side(&self, parent: u32, child: u32) -> Side {
        if self.node(parent).child(Side::Left) == Some(child) { Side::Left } else { Side::Right }
    }

    fn paint(&mut self, node: u32, red: bool) {
        let above = &mut self.above[node as usize];
        *above = above.painted(red);
    }

    fn rank(&self, node: u32) -> u32 {
        self.ranks[node as usize]
    }

    fn above(&self, node: u32) -> Above {
        self.above[node as usize]
    }

    fn node(&self, node: u32) -> &Node<K> {
        &self.nodes[node as usize]
    }

    fn node_mut(&mut self, node: u32) -> &mut Node<K> {
        &mut self.nodes[node as usize]
    }

    fn in_order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut open = Vec::new();
        let mut at = self.root;
        while let Some(node) = at.or_else(|| open.pop()) {
            if at.is_some() {
                open.push(node);
                at = self.node(node).child(Side::Left);
            } else {
                order.push(node);
                at = self.node(node).child(Side::Right);
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Items come by their numbers, which are their keys.
    fn in_turn(ranks: &[u32], less: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let arrivals: Vec<u32> = (0..ranks.len() as u32).collect();
        insertion_order(&arrivals, items(ranks), in_rank(ranks, less))
    }

    /// Lesser ranks come first.
    fn in_rank(ranks: &[u32], less: impl Fn(u32, u32) -> bool) -> impl Fn((u32, &u32), (u32, &u32)) -> bool {
        move |(new, &a), (met, &b)| match ranks[new as usize].cmp(&ranks[met as usize]) {
            std::cmp::Ordering::Equal => less(a, b),
            order => order.is_lt(),
        }
    }

    fn items(ranks: &[u32]) -> impl ExactSizeIterator<Item = (u32, u32)> {
        ranks.iter().enumerate().map(|(key, &rank)| (rank, key as u32))
    }

    #[test]
    fn an_order_is_kept_and_equals_stay_in_turn() {
        let keys = [5, 3, 8, 3, 5, 1, 8, 0, 3];
        assert_eq!(in_turn(&keys, |_, _| false), [7, 5, 1, 3, 8, 0, 4, 2, 6]);
        let by_key = |a: u32, b: u32| keys[a as usize] < keys[b as usize];
        assert_eq!(in_turn(&[0; 9], by_key), [7, 5, 1, 3, 8, 0, 4, 2, 6]);
    }

    #[test]
    fn a_long_ascent_stays_balanced() {
        let ranks: Vec<u32> = (0..10_000).collect();
        assert_eq!(in_turn(&ranks, |_, _| false), ranks);
    }

    #[test]
    fn short_cuts_lead_where_the_way_down_does() {
        // Few ranks, many items, in no order; within a rank a comparison that is none.
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        for count in [1u32, 2, 7, 60, 500] {
            let ranks: Vec<u32> = (0..count).map(|_| random() % count / 2 * 2).collect();
            let mut arrivals: Vec<u32> = (0..count).collect();
            arrivals.sort_by_cached_key(|_| random());
            let less = in_rank(&ranks, |a, b| (a ^ b).count_ones() < (a & b).count_ones());
            let mut tree = Tree::new(items(&ranks));
            for &new in &arrivals {
                let place = tree.descend(new, &less);
                tree.attach(new, place);
                tree.balance(new);
            }
            assert_eq!(insertion_order(&arrivals, items(&ranks), &less), tree.in_order(), "{count}");
        }
    }

    #[test]
    fn a_circle_ends_up_where_the_way_down_leads() {
        // Each beats the next; 0 goes in first, 1 right of it, 2 left of 0 because 2 beats 0.
        let beats = |a: u32, b: u32| (a + 1) % 3 == b;
        assert_eq!(in_turn(&[0; 3], beats), [2, 0, 1]);
    }
}
