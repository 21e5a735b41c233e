//! A red-black tree that is only ever inserted into, told where by a comparison that need not be an order.
//!
//! perf keeps its rows in such a tree. One of its rules compares only rows of one thread, so that a can stand before
//! b, b before c and c before a; where a row then ends up depends on whom it met on its way down. To put rows where
//! perf puts them, they have to take the same way through the same tree.

use std::cmp::Ordering;

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

#[derive(Clone, Copy, Default)]
struct Node {
    parent: Option<u32>,
    left: Option<u32>,
    right: Option<u32>,
    red: bool,
}

impl Node {
    fn child(&self, side: Side) -> Option<u32> {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }
}

/// Inserts `0..count` one after another and gives them in the tree's order. `compare(new, met)` sends the new one
/// left of the one it met when it is less, else right.
pub(crate) fn insertion_order(count: u32, compare: impl Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut tree = Tree { nodes: Vec::with_capacity(count as usize), root: None };
    for new in 0..count {
        let place = tree.descend(new, &compare);
        tree.attach(new, place);
        tree.balance(new);
    }
    tree.in_order()
}

struct Tree {
    nodes: Vec<Node>,
    root: Option<u32>,
}

impl Tree {
    fn descend(&self, new: u32, compare: impl Fn(u32, u32) -> Ordering) -> Option<(u32, Side)> {
        let mut place = None;
        let mut at = self.root;
        while let Some(met) = at {
            let side = if compare(new, met).is_lt() { Side::Left } else { Side::Right };
            place = Some((met, side));
            at = self.node(met).child(side);
        }
        place
    }

    fn attach(&mut self, new: u32, place: Option<(u32, Side)>) {
        let parent = place.map(|(parent, _)| parent);
        self.nodes.push(Node { parent, red: true, ..Node::default() });
        match place {
            Some((parent, side)) => self.set_child(parent, side, Some(new)),
            None => self.root = Some(new),
        }
    }

    /// Restores the rule that a red node has a black parent, from `node` upwards.
    fn balance(&mut self, mut node: u32) {
        while let Some((parent, grandparent)) = self.red_parent(node) {
            let side = self.side(grandparent, parent);
            let uncle = self.node(grandparent).child(side.other()).filter(|&uncle| self.node(uncle).red);
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
        let parent = self.node(node).parent.filter(|&parent| self.node(parent).red)?;
        Some((parent, self.node(parent).parent?))
    }

    /// Moves a node down to `side`, its child of the other side up.
    fn rotate(&mut self, node: u32, side: Side) {
        let Some(up) = self.node(node).child(side.other()) else { return };
        let inner = self.node(up).child(side);
        let parent = self.node(node).parent;
        match parent {
            Some(parent) => self.set_child(parent, self.side(parent, node), Some(up)),
            None => self.root = Some(up),
        }
        self.node_mut(up).parent = parent;
        self.set_child(node, side.other(), inner);
        self.set_child(up, side, Some(node));
    }

    fn set_child(&mut self, parent: u32, side: Side, child: Option<u32>) {
        match side {
            Side::Left => self.node_mut(parent).left = child,
            Side::Right => self.node_mut(parent).right = child,
        }
        if let Some(child) = child {
            self.node_mut(child).parent = Some(parent);
        }
    }

    fn side(&self, parent: u32, child: u32) -> Side {
        if self.node(parent).left == Some(child) { Side::Left } else { Side::Right }
    }

    fn paint(&mut self, node: u32, red: bool) {
        self.node_mut(node).red = red;
    }

    fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

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
                at = self.node(node).left;
            } else {
                order.push(node);
                at = self.node(node).right;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_kept_and_equals_stay_in_turn() {
        let keys = [5, 3, 9, 3, 5, 1, 9, 0, 3];
        let got = insertion_order(keys.len() as u32, |a, b| keys[a as usize].cmp(&keys[b as usize]));
        assert_eq!(got, [7, 5, 1, 3, 8, 0, 4, 2, 6]);
    }

    #[test]
    fn a_long_ascent_stays_balanced() {
        assert_eq!(insertion_order(10_000, |a, b| a.cmp(&b)), (0..10_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_circle_ends_up_where_the_way_down_leads() {
        // Each beats the next; 0 goes in first, 1 right of it, 2 left of 0 because 2 beats 0.
        let beats = |a: u32, b: u32| if (a + 1) % 3 == b { Ordering::Less } else { Ordering::Greater };
        assert_eq!(insertion_order(3, beats), [2, 0, 1]);
    }
}
