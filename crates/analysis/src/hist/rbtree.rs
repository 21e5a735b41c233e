//! A red-black tree that is only ever inserted into, told where by a comparison that need not be an order.
//!
//! perf keeps its rows in such a tree. One of its rules compares only rows of one thread, so that a can stand before
//! b, b before c and c before a; where a row then ends up depends on whom it met on its way down. To put rows where
//! perf puts them, they have to take the same way through the same tree. The others, whose places are known, have to
//! be in it, too: they make it what it is. They get there without a way.

use std::num::NonZeroU32;
use std::ops::Range;

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

/// What the tree keeps of an item. It is as large as the CPU's caches, so this is nothing but its place.
#[derive(Clone, Copy, Default)]
struct Node {
    below: [Link; 2],
    above: Above,
}

impl Node {
    #[inline]
    fn child(&self, side: Side) -> Option<u32> {
        self.below[side as usize].get()
    }
}

/// Inserts items one after another, in the order of `arrivals`, and gives them in the tree's order.
///
/// An item is a number and stands before all that have a greater one, but for those of a circle, a stretch of numbers: among
/// these a new one goes left of those that it meets where `less(new, met)` says so. Circles ascend, and share no item.
///
/// What stands close together has close numbers, and so is close together in memory.
pub(crate) fn insertion_order(
    arrivals: &[u32],
    circles: &[Range<u32>],
    less: impl Fn(u32, u32) -> bool,
) -> Vec<u32> {
    let classes = Classes::new(arrivals.len(), circles);
    let mut ends: Vec<Option<Ends>> = vec![None; circles.len()];
    let mut tree = Tree::new(arrivals.len());
    for (&new, way) in arrivals.iter().zip(ways(arrivals, circles, &classes)) {
        let place = match way {
            Way::Between(below, above) => {
                let last = |class| classes.circle(class).map_or(Some(class), |at| Some(ends[at]?.last));
                let first = |class| classes.circle(class).map_or(Some(class), |at| Some(ends[at]?.first));
                tree.between(below.get().and_then(last), above.get().and_then(first))
            }
            Way::Down(circle) => tree.descend(new, &circles[circle as usize], &less),
        };
        let class = classes.of(new);
        if let Some(circle) = classes.circle(class) {
            let is_other = |item| classes.of(item) != class;
            ends[circle] = Some(Ends::with(ends[circle], new, place, is_other));
        }
        tree.attach(new, place);
        tree.balance(new);
    }
    tree.in_order()
}

/// Which items have one place among all others: each item alone, with its own number, and each circle, numbered behind
/// the items.
struct Classes {
    of: Vec<u32>,
}

impl Classes {
    fn new(items: usize, circles: &[Range<u32>]) -> Classes {
        let mut of: Vec<u32> = (0..items as u32).collect();
        for (circle, class) in circles.iter().zip(items as u32..) {
            of[circle.start as usize..circle.end as usize].fill(class);
        }
        Classes { of }
    }

    #[inline]
    fn of(&self, item: u32) -> u32 {
        self.of[item as usize]
    }

    /// Which of the circles a class is.
    #[inline]
    fn circle(&self, class: u32) -> Option<usize> {
        (class as usize).checked_sub(self.of.len())
    }
}

/// How an item finds its place.
#[derive(Clone, Copy)]
enum Way {
    /// As the first of its class, between the nearest classes that are in the tree when it comes.
    Between(Link, Link),
    /// Down through the tree, to others of its circle.
    Down(u32),
}

/// The way of each item. Those between neighbours are found backwards, by taking classes out of a list of all.
fn ways(arrivals: &[u32], circles: &[Range<u32>], classes: &Classes) -> Vec<Way> {
    let mut neighbours = Neighbours::new(classes, circles.len());
    let mut left: Vec<usize> = circles.iter().map(Range::len).collect();
    let mut ways = vec![Way::Down(0); arrivals.len()];
    for (way, &item) in ways.iter_mut().zip(arrivals).rev() {
        let class = classes.of(item);
        let circle = classes.circle(class).filter(|&circle| {
            left[circle] -= 1;
            left[circle] > 0
        });
        *way = match circle {
            Some(circle) => Way::Down(circle as u32),
            None => neighbours.take(class),
        };
    }
    ways
}

/// A list of classes in their order.
struct Neighbours {
    /// Those below and above each.
    of: Vec<[Link; 2]>,
}

impl Neighbours {
    fn new(classes: &Classes, circles: usize) -> Neighbours {
        let mut of = vec![[Link::default(); 2]; classes.of.len() + circles];
        let mut below = Link::default();
        for &class in &classes.of {
            if below != Link::to(class) {
                of[class as usize][0] = below;
                if let Some(below) = below.get() {
                    of[below as usize][1] = Link::to(class);
                }
                below = Link::to(class);
            }
        }
        Neighbours { of }
    }

    /// Takes a class out; its place is between those that were around it.
    fn take(&mut self, class: u32) -> Way {
        let [below, above] = self.of[class as usize];
        if let Some(below) = below.get() {
            self.of[below as usize][1] = above;
        }
        if let Some(above) = above.get() {
            self.of[above as usize][0] = below;
        }
        Way::Between(below, above)
    }
}

/// The first and the last item of a circle in the tree's order.
#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

impl Ends {
    /// The ends when a new item has its place, below one of its circle or of another class.
    fn with(
        known: Option<Ends>,
        new: u32,
        place: Option<(u32, Side)>,
        is_other: impl Fn(u32) -> bool,
    ) -> Ends {
        let (Some(Ends { first, last }), Some((parent, side))) = (known, place) else {
            return Ends { first: new, last: new };
        };
        // The parent is the item right before or behind the new one.
        match side {
            Side::Left if parent == first => Ends { first: new, last },
            Side::Left if is_other(parent) => Ends { first, last: new },
            Side::Right if parent == last => Ends { first, last: new },
            Side::Right if is_other(parent) => Ends { first: new, last },
            _ => Ends { first, last },
        }
    }
}

struct Tree {
    nodes: Vec<Node>,
    root: Option<u32>,
}

impl Tree {
    /// An empty tree for so many items.
    fn new(items: usize) -> Tree {
        Tree { nodes: vec![Node::default(); items], root: None }
    }

    /// The place between two neighbours: one of them has nothing on that side.
    fn between(&self, below: Option<u32>, above: Option<u32>) -> Option<(u32, Side)> {
        let behind = below.filter(|&below| self.node(below).child(Side::Right).is_none());
        behind.map(|below| (below, Side::Right)).or(above.map(|above| (above, Side::Left)))
    }

    fn descend(&self, new: u32, circle: &Range<u32>, less: impl Fn(u32, u32) -> bool) -> Option<(u32, Side)> {
        let mut place = None;
        let mut at = self.root;
        while let Some(met) = at {
            let is_left = met >= circle.end || met >= circle.start && less(new, met);
            let side = if is_left { Side::Left } else { Side::Right };
            place = Some((met, side));
            at = self.node(met).child(side);
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
        let node = self.node_mut(child);
        node.above = node.above.with(parent);
    }

    fn side(&self, parent: u32, child: u32) -> Side {
        if self.node(parent).child(Side::Left) == Some(child) { Side::Left } else { Side::Right }
    }

    fn paint(&mut self, node: u32, red: bool) {
        let node = self.node_mut(node);
        node.above = node.above.painted(red);
    }

    #[inline]
    fn above(&self, node: u32) -> Above {
        self.node(node).above
    }

    #[inline]
    fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    #[inline]
    fn node_mut(&mut self, node: u32) -> &mut Node {
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

    /// Items come by their numbers, and are all of one circle.
    fn in_turn(items: u32, less: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        let arrivals: Vec<u32> = (0..items).collect();
        insertion_order(&arrivals, std::slice::from_ref(&(0..items)), less)
    }

    #[test]
    fn an_order_is_kept_and_equals_stay_in_turn() {
        let keys = [5, 3, 8, 3, 5, 1, 8, 0, 3];
        let by_key = |a: u32, b: u32| keys[a as usize] < keys[b as usize];
        assert_eq!(in_turn(9, by_key), [7, 5, 1, 3, 8, 0, 4, 2, 6]);
        assert_eq!(in_turn(3, |_, _| false), [0, 1, 2]);
    }

    #[test]
    fn a_long_ascent_stays_balanced() {
        let all: Vec<u32> = (0..10_000).collect();
        assert_eq!(insertion_order(&all, &[], |_, _| false), all);
        assert_eq!(in_turn(10_000, |a, b| a < b), all);
    }

    #[test]
    fn short_cuts_lead_where_the_way_down_does() {
        // Circles of many sizes with items between, in no order; within a circle a comparison that is none.
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let less = |a: u32, b: u32| (a ^ b).count_ones() < (a & b).count_ones();
        for count in [1u32, 2, 7, 60, 500] {
            let mut circles = Vec::new();
            let mut start = random() % 3;
            while start < count {
                let end = count.min(start + 1 + random() % 9);
                circles.push(start..end);
                start = end + random() % 3;
            }
            let mut arrivals: Vec<u32> = (0..count).collect();
            arrivals.sort_by_cached_key(|_| random());
            let mut tree = Tree::new(arrivals.len());
            for &new in &arrivals {
                let alone = new..new + 1;
                let circle = circles.iter().find(|circle| circle.contains(&new)).unwrap_or(&alone);
                let place = tree.descend(new, circle, less);
                tree.attach(new, place);
                tree.balance(new);
            }
            assert_eq!(insertion_order(&arrivals, &circles, less), tree.in_order(), "{count}");
        }
    }

    #[test]
    fn a_circle_ends_up_where_the_way_down_leads() {
        // Each beats the next; 0 goes in first, 1 right of it, 2 left of 0 because 2 beats 0.
        let beats = |a: u32, b: u32| (a + 1) % 3 == b;
        assert_eq!(in_turn(3, beats), [2, 0, 1]);
    }
}
