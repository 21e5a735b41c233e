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

/// What is known of an item, or of a circle as a whole. The tree is as large as the CPU's caches, so this is little.
#[derive(Clone, Copy, Default)]
struct Node {
    /// What is below it in the tree. Before it is there, what is before and behind it in the list of [`line_up`].
    sides: [Link; 2],
    above: Above,
    /// Its class: itself, or the circle that it is in.
    class: u32,
}

impl Node {
    #[inline]
    fn child(&self, side: Side) -> Option<u32> {
        self.sides[side as usize].get()
    }
}

/// Inserts items one after another, in the order of `arrivals`, and gives those of circles in the tree's order, circle by
/// circle.
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
    let (tree, ends) = cct(arrivals, circles, less);
    let in_order = |(circle, ends): (&Range<u32>, &Option<Ends>)| {
        tree.in_order(ends.map(|ends| ends.first))
            .take(circle.len())
            .collect::<Vec<u32>>()
    };
    circles.iter().zip(&ends).flat_map(in_order).collect()
}

/// The tree, and the ends of each circle.
fn cct(
    arrivals: &[u32],
    circles: &[Range<u32>],
    less: impl Fn(u32, u32) -> bool,
) -> (Tree, Vec<Option<Ends>>) {
    let items = arrivals.len();
    let mut ends: Vec<Option<Ends>> = vec![None; circles.len()];
    let mut tree = Tree {
        nodes: line_up(arrivals, circles),
        root: None,
    };
    for &new in arrivals {
        let class = tree.node(new).class;
        let circle = (class as usize).checked_sub(items);
        let place = match circle.filter(|&circle| ends[circle].is_some()) {
            Some(circle) => tree.descend(new, &circles[circle], &less),
            None => {
                let [before, behind] = tree.node(class).sides.map(Link::get);
                let end = |class: u32| match (class as usize).checked_sub(items) {
                    Some(circle) => ends[circle],
                    None => Some(Ends {
                        first: class,
                        last: class,
                    }),
                };
                let (before, behind) = (before.and_then(end), behind.and_then(end));
                tree.between(before.map(|ends| ends.last), behind.map(|ends| ends.first))
            }
        };
        if let Some(circle) = circle {
            let is_other = |item| tree.node(item).class != class;
            ends[circle] = Some(Ends::with(ends[circle], new, place, is_other));
        }
        tree.attach(new, place);
        tree.balance(new);
    }
    (tree, ends)
}

/// The nodes of all items, and behind them of all circles. Each class finds in its node the classes that are next to it
/// among those that come before it: all stand in a list, and are taken out of it backwards.
fn line_up(arrivals: &[u32], circles: &[Range<u32>]) -> Vec<Node> {
    let mut nodes = listed(arrivals.len(), circles);
    let mut left: Vec<usize> = circles.iter().map(Range::len).collect();
    for &item in arrivals.iter().rev() {
        let class = nodes[item as usize].class;
        if let Some(circle) = (class as usize).checked_sub(arrivals.len()) {
            left[circle] -= 1;
            if left[circle] > 0 {
                continue;
            }
        }
        let [before, behind] = nodes[class as usize].sides;
        if let Some(before) = before.get() {
            nodes[before as usize].sides[1] = behind;
        }
        if let Some(behind) = behind.get() {
            nodes[behind as usize].sides[0] = before;
        }
    }
    nodes
}

/// The same with all classes in the list.
fn listed(items: usize, circles: &[Range<u32>]) -> Vec<Node> {
    let alone = |class| Node {
        class,
        ..Node::default()
    };
    let mut nodes: Vec<Node> = (0..(items + circles.len()) as u32).map(alone).collect();
    for (circle, class) in circles.iter().zip(items as u32..) {
        nodes[circle.start as usize..circle.end as usize]
            .iter_mut()
            .for_each(|node| node.class = class);
    }
    let mut before = Link::default();
    for item in 0..items {
        let class = nodes[item].class;
        if before == Link::to(class) {
            continue;
        }
        nodes[class as usize].sides[0] = before;
        if let Some(before) = before.get() {
            nodes[before as usize].sides[1] = Link::to(class);
        }
        before = Link::to(class);
    }
    nodes
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
            return Ends {
                first: new,
                last: new,
            };
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
    /// The place between two neighbours: one of them has nothing on that side.
    fn between(&self, below: Option<u32>, above: Option<u32>) -> Option<(u32, Side)> {
        let behind = below.filter(|&below| self.node(below).child(Side::Right).is_none());
        behind
            .map(|below| (below, Side::Right))
            .or(above.map(|above| (above, Side::Left)))
    }

    fn descend(
        &self,
        new: u32,
        circle: &Range<u32>,
        less: impl Fn(u32, u32) -> bool,
    ) -> Option<(u32, Side)> {
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
        self.node_mut(new).sides = Default::default();
        match place {
            Some((parent, side)) => self.set_child(parent, side, Some(new)),
            None => self.root = Some(new),
        }
    }

    /// Restores the rule that a red node has a black parent, from `node` upwards.
    fn balance(&mut self, mut node: u32) {
        while let Some((parent, grandparent)) = self.red_parent(node) {
            let side = self.side(grandparent, parent);
            let uncle = self
                .node(grandparent)
                .child(side.other())
                .filter(|&uncle| self.above(uncle).is_red());
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
        let parent = self
            .above(node)
            .link()
            .get()
            .filter(|&parent| self.above(parent).is_red())?;
        Some((parent, self.above(parent).link().get()?))
    }

    /// Moves a node down to `side`, its child of the other side up.
    fn rotate(&mut self, node: u32, side: Side) {
        let Some(up) = self.node(node).child(side.other()) else {
            return;
        };
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
        self.node_mut(parent).sides[side as usize] = link;
        if let Some(child) = child {
            self.hang(child, Link::to(parent));
        }
    }

    fn hang(&mut self, child: u32, parent: Link) {
        let node = self.node_mut(child);
        node.above = node.above.with(parent);
    }

    fn side(&self, parent: u32, child: u32) -> Side {
        if self.node(parent).child(Side::Left) == Some(child) {
            Side::Left
        } else {
            Side::Right
        }
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

    /// The items from one on.
    fn in_order(&self, first: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(first, |&item| self.next(item))
    }

    /// The item behind another: the first on its right side, or else the first above that it is left of.
    fn next(&self, item: u32) -> Option<u32> {
        if let Some(right) = self.node(item).child(Side::Right) {
            return Some(self.leftmost(right));
        }
        let mut item = item;
        loop {
            let above = self.above(item).link().get()?;
            if self.side(above, item) == Side::Left {
                return Some(above);
            }
            item = above;
        }
    }

    fn leftmost(&self, top: u32) -> u32 {
        let left = std::iter::successors(Some(top), |&item| self.node(item).child(Side::Left));
        left.last().unwrap_or(top)
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

    fn all_of(tree: &Tree) -> Vec<u32> {
        tree.in_order(tree.root.map(|root| tree.leftmost(root)))
            .collect()
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
        let (tree, _) = cct(&all, &[], |_, _| false);
        assert_eq!(all_of(&tree), all);
        assert_eq!(in_turn(10_000, |a, b| a < b), all);
    }

    #[test]
    fn short_cuts_lead_where_the_way_down_does() {
        // Circles of many sizes with items between, in no order; within a circle a comparison that is none.
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
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
            let mut tree = Tree {
                nodes: vec![Node::default(); arrivals.len()],
                root: None,
            };
            for &new in &arrivals {
                let alone = new..new + 1;
                let circle = circles
                    .iter()
                    .find(|circle| circle.contains(&new))
                    .unwrap_or(&alone);
                let place = tree.descend(new, circle, less);
                tree.attach(new, place);
                tree.balance(new);
            }
            let in_order = all_of(&tree);
            assert_eq!(
                all_of(&cct(&arrivals, &circles, less).0),
                in_order,
                "{count}"
            );
            let of_circles: Vec<u32> = circles
                .iter()
                .flat_map(|circle| &in_order[circle.start as usize..circle.end as usize])
                .copied()
                .collect();
            assert_eq!(
                insertion_order(&arrivals, &circles, less),
                of_circles,
                "{count}"
            );
        }
    }

    #[test]
    fn a_circle_ends_up_where_the_way_down_leads() {
        // Each beats the next; 0 goes in first, 1 right of it, 2 left of 0 because 2 beats 0.
        let beats = |a: u32, b: u32| (a + 1) % 3 == b;
        assert_eq!(in_turn(3, beats), [2, 0, 1]);
    }
}
