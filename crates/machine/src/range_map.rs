//! Stretches of address space by address: a B-tree whose copies share what neither of them changes.
//!
//! Mappings are kept for every moment that somebody asks about later, and a child has its parent's mappings: a change
//! copies the nodes on its way, and not the table.

use std::ops::Range;
use std::sync::Arc;

use crate::{MappedObject, Region};

/// A stretch of address space that shows one mapping, with what it takes to tell the place of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MappedRange {
    pub(crate) start: u64,
    /// Address behind the last.
    pub(crate) end: u64,
    pub(crate) shown: MappedObject,
}

/// Stretches in order, without overlap; a copy costs next to nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeMap {
    /// `None` where there is none: no node is empty.
    root: Option<Arc<Node>>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Vec<MappedRange>),
    Branch(Vec<Child>),
}

#[derive(Clone, Debug)]
struct Child {
    /// Of its first stretch.
    start: u64,
    node: Arc<Node>,
}

/// Most entries of a node: those of most processes fit in a few.
const MOST: usize = 32;

impl RangeMap {
    /// The stretch around an address.
    #[inline]
    pub(crate) fn at(&self, address: u64) -> Option<&MappedRange> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Branch(children) => {
                    let after = children.partition_point(|child| child.start <= address);
                    node = &children.get(after.checked_sub(1)?)?.node;
                }
                Node::Leaf(list) => {
                    let after = list.partition_point(|stretch| stretch.start <= address);
                    return list
                        .get(after.checked_sub(1)?)
                        .filter(|stretch| address < stretch.end);
                }
            }
        }
    }

    /// The region around an address.
    pub(crate) fn region(&self, address: u64) -> Region {
        let (before, next) = self.around(address);
        match before.filter(|stretch| address < stretch.end) {
            Some(stretch) => Region {
                first: stretch.start,
                last: stretch.end - 1,
                shown: Some(stretch.shown),
            },
            None => Region {
                first: before.map_or(0, |stretch| stretch.end),
                last: next.map_or(u64::MAX, |start| start - 1),
                shown: None,
            },
        }
    }

    /// Start of the first stretch.
    pub(crate) fn start(&self) -> Option<u64> {
        self.root.as_deref().and_then(Node::start)
    }

    /// Puts a stretch over whatever was there.
    pub(crate) fn insert(&mut self, stretch: MappedRange) {
        let MappedRange { start, end, .. } = stretch;
        if start >= end {
            return;
        }
        let (before, next) = self.around(start);
        let left = before.filter(|old| old.end > start).copied();
        let right = self.around(end - 1).0.filter(|old| old.end > end).copied();
        if left.is_some() || next.is_some_and(|next| next < end) {
            self.remove(left.map_or(start, |old| old.start)..end);
        }
        if let Some(left) = left.filter(|old| old.start < start) {
            self.put(MappedRange { end: start, ..left });
        }
        self.put(stretch);
        if let Some(right) = right {
            self.put(MappedRange {
                start: end,
                ..right
            });
        }
    }

    /// The last stretch that begins at an address or before it, and where the next one begins.
    fn around(&self, address: u64) -> (Option<&MappedRange>, Option<u64>) {
        let mut next = None;
        let Some(mut node) = self.root.as_deref() else {
            return (None, None);
        };
        loop {
            match node {
                Node::Branch(children) => {
                    let after = children.partition_point(|child| child.start <= address);
                    next = children.get(after).map(|child| child.start).or(next);
                    match after.checked_sub(1) {
                        Some(before) => node = &children[before].node,
                        None => return (None, next),
                    }
                }
                Node::Leaf(list) => {
                    let after = list.partition_point(|stretch| stretch.start <= address);
                    next = list.get(after).map(|stretch| stretch.start).or(next);
                    return (after.checked_sub(1).map(|before| &list[before]), next);
                }
            }
        }
    }

    /// Adds a stretch where nothing is.
    fn put(&mut self, stretch: MappedRange) {
        let Some(root) = &mut self.root else {
            self.root = Some(Arc::new(Node::Leaf(vec![stretch])));
            return;
        };
        if let Some(right) = Node::put(root, stretch) {
            let left = Child {
                start: root.start().unwrap_or(0),
                node: Arc::clone(root),
            };
            self.root = Some(Arc::new(Node::Branch(vec![left, right])));
        }
    }

    /// Removes the stretches that begin in a range.
    fn remove(&mut self, starts: Range<u64>) {
        let Some(mut root) = self.root.take() else {
            return;
        };
        Node::remove(&mut root, &starts);
        while let Node::Branch(children) = &*root
            && let [only] = &children[..]
        {
            root = Arc::clone(&only.node);
        }
        self.root = root.start().map(|_| root);
    }
}

impl Node {
    /// Start of its first range.
    fn start(&self) -> Option<u64> {
        match self {
            Node::Leaf(list) => list.first().map(|stretch| stretch.start),
            Node::Branch(children) => children.first().map(|child| child.start),
        }
    }

    /// Adds a stretch; gives the upper part of a node that was full.
    fn put(node: &mut Arc<Node>, stretch: MappedRange) -> Option<Child> {
        match Arc::make_mut(node) {
            Node::Leaf(list) => {
                let at = list.partition_point(|other| other.start < stretch.start);
                let upper = insert(list, at, stretch)?;
                Some(Child {
                    start: upper[0].start,
                    node: Arc::new(Node::Leaf(upper)),
                })
            }
            Node::Branch(children) => {
                let after = children.partition_point(|child| child.start <= stretch.start);
                let at = after.saturating_sub(1);
                let child = &mut children[at];
                child.start = child.start.min(stretch.start);
                let added = Node::put(&mut child.node, stretch)?;
                let upper = insert(children, at + 1, added)?;
                Some(Child {
                    start: upper[0].start,
                    node: Arc::new(Node::Branch(upper)),
                })
            }
        }
    }

    /// Removes the stretches that begin in a range; nothing may be left.
    fn remove(node: &mut Arc<Node>, starts: &Range<u64>) {
        match Arc::make_mut(node) {
            Node::Leaf(list) => list.retain(|stretch| !starts.contains(&stretch.start)),
            Node::Branch(children) => {
                let first = children.partition_point(|child| child.start < starts.start);
                let last = children.partition_point(|child| child.start < starts.end);
                // What begins before another that begins in the range is in it wholly.
                children.drain(first..last.saturating_sub(1).max(first));
                let at_edges = first.saturating_sub(1)..children.len().min(first + 1);
                children[at_edges]
                    .iter_mut()
                    .for_each(|child| child.remove(starts));
                children.retain(|child| child.node.start().is_some());
            }
        }
    }
}

impl Child {
    fn remove(&mut self, starts: &Range<u64>) {
        if self.start < starts.end {
            Node::remove(&mut self.node, starts);
            self.start = self.node.start().unwrap_or(self.start);
        }
    }
}

/// Inserts an entry; gives the upper entries of a node that was full. Those that are filled in order stay full.
fn insert<T>(list: &mut Vec<T>, at: usize, entry: T) -> Option<Vec<T>> {
    if list.len() < MOST {
        grow(list);
        list.insert(at, entry);
        return None;
    }
    let mut upper = list.split_off(if at == MOST { MOST } else { MOST / 2 });
    match at.checked_sub(list.len()) {
        Some(at) => {
            grow(&mut upper);
            upper.insert(at, entry);
        }
        None => list.insert(at, entry),
    }
    Some(upper)
}

/// Makes space for an entry, and no more than for a few: there may be many copies.
fn grow<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DsoId, MapId};

    fn shown(number: u32) -> MappedObject {
        MappedObject {
            map: MapId(number),
            dso: DsoId(number),
            bias: 0,
        }
    }

    /// The mapping at each address of a small space.
    fn addresses(stretches: &RangeMap, count: u64) -> Vec<Option<u32>> {
        (0..count)
            .map(|address| stretches.at(address).map(|stretch| stretch.shown.map.0))
            .collect()
    }

    /// Numbers that look random and are the same in each run.
    fn numbers() -> impl FnMut(u64) -> u64 {
        let mut state = 1_u64;
        move |below| {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % below
        }
    }

    /// Every node holds something, no more than the most, and knows where it begins.
    fn check(node: &Node) -> (usize, usize) {
        match node {
            Node::Leaf(list) => {
                assert!((1..=MOST).contains(&list.len()));
                assert!(list.is_sorted_by(|one, next| one.end <= next.start));
                (1, 1)
            }
            Node::Branch(children) => {
                assert!((1..=MOST).contains(&children.len()));
                assert!(
                    children
                        .iter()
                        .all(|child| child.node.start() == Some(child.start))
                );
                let below = children.iter().map(|child| check(&child.node));
                below.fold((0, 1), |(depth, nodes), (more, others)| {
                    (depth.max(more + 1), nodes + others)
                })
            }
        }
    }

    #[test]
    fn it_shows_what_an_array_of_addresses_shows() {
        const SPACE: u64 = 6000;
        let mut random = numbers();
        for longest in [3, 40, 2000] {
            let (mut stretches, mut expected) = (RangeMap::default(), vec![None; SPACE as usize]);
            let mut kept = Vec::new();
            for number in 0..3000 {
                let start = random(SPACE);
                let end = (start + random(longest)).min(SPACE);
                stretches.insert(MappedRange {
                    start,
                    end,
                    shown: shown(number),
                });
                expected[start as usize..end.max(start) as usize].fill(Some(number));
                if number % 500 == 0 {
                    kept.push((stretches.clone(), expected.clone()));
                }
            }
            kept.push((stretches, expected));
            for (stretches, expected) in &kept {
                assert_eq!(addresses(stretches, SPACE), *expected);
                stretches
                    .root
                    .iter()
                    .for_each(|root| assert!(check(root).0 <= 4));
                for address in (0..SPACE).step_by(37) {
                    let region = stretches.region(address);
                    let around = region.first..=region.last.min(SPACE - 1);
                    assert!(around.contains(&address));
                    let same = |address| {
                        expected[address as usize] == region.shown.map(|shown| shown.map.0)
                    };
                    assert!(around.clone().all(same));
                }
            }
        }
    }

    #[test]
    fn what_is_covered_is_gone() {
        let mut stretches = RangeMap::default();
        (0..10_000).for_each(|n| {
            stretches.insert(MappedRange {
                start: n * 10,
                end: n * 10 + 5,
                shown: shown(0),
            });
        });
        stretches.insert(MappedRange {
            start: 1,
            end: 100_000,
            shown: shown(1),
        });
        assert_eq!(stretches.root.as_deref().map(check), Some((1, 1)));
        assert_eq!(addresses(&stretches, 3), [Some(0), Some(1), Some(1)]);
        assert_eq!(
            (stretches.start(), stretches.region(100_000).last),
            (Some(0), u64::MAX)
        );
    }

    #[test]
    fn a_change_copies_its_way_alone() {
        let mut stretches = RangeMap::default();
        let insert = |stretches: &mut RangeMap, n: u64| {
            stretches.insert(MappedRange {
                start: n * 10,
                end: n * 10 + 5,
                shown: shown(0),
            });
        };
        (0..10_000).for_each(|n| insert(&mut stretches, n));
        let before = stretches.clone();
        insert(&mut stretches, 5000);
        let shared = |one: &RangeMap, other: &RangeMap| {
            let nodes = |stretches: &RangeMap| {
                let mut found = Vec::new();
                stretches
                    .root
                    .iter()
                    .for_each(|root| list_nodes(root, &mut found));
                found
            };
            let (one, other) = (nodes(one), nodes(other));
            (
                one.iter().filter(|node| !other.contains(node)).count(),
                one.len(),
            )
        };
        let (copied, all) = shared(&before, &stretches);
        assert!(copied <= 3 && all > 300, "{copied} of {all}");
    }

    fn list_nodes(node: &Arc<Node>, found: &mut Vec<*const Node>) {
        found.push(Arc::as_ptr(node));
        if let Node::Branch(children) = &**node {
            children
                .iter()
                .for_each(|child| list_nodes(&child.node, found));
        }
    }
}
