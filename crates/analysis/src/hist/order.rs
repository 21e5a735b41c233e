//! The order of the rows.
//!
//! Rows stand by weight. Between rows of equal weight perf asks, in this order: the length of the call chains, but
//! only between rows of one thread; their own weight; the keys as text; and what the rows were found by, which comes
//! down to addresses. Where the first of these questions makes a circle, [`super::rbtree`] decides as perf's tree does.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::callgraph::Order;
use super::rbtree::insertion_order;
use crate::profile::ThreadId;

/// What the order looks at.
pub(crate) trait Ranked {
    /// The weight that counts first.
    fn weight(&self, row: u32) -> u64;
    /// The thread and the length of the longest chain of a row, if chains count.
    fn chain(&self, row: u32) -> Option<(ThreadId, u32)>;
    /// Other weights, then the keys as shown.
    fn compare_shown(&self, a: u32, b: u32) -> Ordering;
    /// The keys as found.
    fn compare_found(&self, a: u32, b: u32) -> Ordering;
}

/// The rows `0..count` in the order of the report.
pub(crate) fn ordered(rows: &impl Ranked, count: u32, direction: Order) -> Vec<u32> {
    let mut by_weight: Vec<(Reverse<u64>, u32)> =
        (0..count).map(|row| (Reverse(rows.weight(row)), row)).collect();
    by_weight.sort_unstable();
    let mut order: Vec<u32> = by_weight.iter().map(|&(_, row)| row).collect();
    let mut circles = Vec::new();
    let mut start = 0;
    for equals in order.chunk_by_mut(|&a, &b| rows.weight(a) == rows.weight(b)) {
        let end = start + equals.len();
        if equals.len() > 1 && order_equals(rows, equals, direction) == Clash::Circle {
            circles.push(start..end);
        }
        start = end;
    }
    if circles.is_empty() { order } else { order_by_insertion(rows, &order, &circles, direction) }
}

#[derive(PartialEq, Eq)]
enum Clash {
    None,
    /// The chain rule contradicts the rest.
    Circle,
}

fn order_equals(rows: &impl Ranked, equals: &mut [u32], direction: Order) -> Clash {
    let rest = |a: u32, b: u32| rows.compare_shown(a, b).then_with(|| rows.compare_found(a, b));
    let thread = |row: u32| rows.chain(row).map(|(thread, _)| thread);
    let first = equals.first().and_then(|&row| thread(row));
    if equals.iter().all(|&row| thread(row) == first) {
        let chains = |a, b| compare_chains(rows.chain(a), rows.chain(b), direction);
        equals.sort_unstable_by(|&a, &b| chains(a, b).then_with(|| rest(a, b)));
        return Clash::None;
    }
    equals.sort_unstable_by(|&a, &b| rest(a, b));
    let mut last_of_thread = FxHashMap::default();
    let agree = equals.iter().all(|&row| {
        let before = rows.chain(row).and_then(|(thread, _)| last_of_thread.insert(thread, row));
        before.is_none_or(|before| compare_chains(rows.chain(before), rows.chain(row), direction).is_le())
    });
    if agree { Clash::None } else { Clash::Circle }
}

/// Callers above callees: with callers first, what has the longer chains below it is the caller.
fn compare_chains(a: Option<(ThreadId, u32)>, b: Option<(ThreadId, u32)>, direction: Order) -> Ordering {
    match (a, b) {
        (Some((one, a)), Some((other, b))) if one == other => match direction {
            Order::Caller => b.cmp(&a),
            Order::Callee => a.cmp(&b),
        },
        _ => Ordering::Equal,
    }
}

/// Sends the rows through perf's tree. Rows of a circle have one rank, the others their place.
fn order_by_insertion(
    rows: &impl Ranked,
    order: &[u32],
    circles: &[Range<usize>],
    direction: Order,
) -> Vec<u32> {
    let mut ranks: Vec<u32> = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, &row)| ranks[row as usize] = place);
    for circle in circles {
        order[circle.clone()].iter().for_each(|&row| ranks[row as usize] = circle.start as u32);
    }
    let mut found = order.to_vec();
    found.sort_unstable_by(|&a, &b| rows.compare_found(a, b));
    let ranks: Vec<u32> = found.iter().map(|&row| ranks[row as usize]).collect();
    let tree_order = insertion_order(&ranks, |a, b| {
        let (a, b) = (found[a as usize], found[b as usize]);
        let chains = compare_chains(rows.chain(a), rows.chain(b), direction);
        chains.then_with(|| rows.compare_shown(a, b))
    });
    tree_order.into_iter().map(|place| found[place as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as (weight, thread, chain length, name).
    struct Rows(&'static [(u64, u32, u32, &'static str)]);

    impl Ranked for Rows {
        fn weight(&self, row: u32) -> u64 {
            self.0[row as usize].0
        }
        fn chain(&self, row: u32) -> Option<(ThreadId, u32)> {
            Some((ThreadId(self.0[row as usize].1), self.0[row as usize].2))
        }
        fn compare_shown(&self, a: u32, b: u32) -> Ordering {
            self.0[a as usize].3.cmp(self.0[b as usize].3)
        }
        fn compare_found(&self, a: u32, b: u32) -> Ordering {
            a.cmp(&b)
        }
    }

    #[track_caller]
    fn check(rows: &'static [(u64, u32, u32, &'static str)], expected: &str) {
        let order = ordered(&Rows(rows), rows.len() as u32, Order::Caller);
        let names: Vec<&str> = order.iter().map(|&row| rows[row as usize].3).collect();
        assert_eq!(names.join(" "), expected);
    }

    #[test]
    fn weight_then_chain_then_name() {
        check(&[(1, 0, 9, "light"), (5, 0, 1, "a"), (5, 0, 3, "main"), (5, 0, 1, "b")], "main a b light");
    }

    #[test]
    fn threads_that_agree_need_no_tree() {
        check(&[(5, 0, 1, "z"), (5, 1, 2, "m"), (5, 0, 3, "a")], "a m z");
    }

    #[test]
    fn a_circle_is_settled_by_the_order_of_arrival() {
        // b before c and c before d by name, d before b by chain.
        check(&[(5, 0, 1, "b"), (5, 1, 1, "c"), (5, 0, 9, "d")], "d b c");
    }
}
