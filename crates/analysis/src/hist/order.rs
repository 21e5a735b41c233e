//! The order of the rows.
//!
//! Rows stand by weight. Between rows of equal weight perf asks, in this order: the length of the call chains, but
//! only between rows of one thread; their own weight; the keys as text; and what the rows were found by, which comes
//! down to addresses. Where the first of these questions makes a circle, [`super::rbtree`] decides as perf's tree does.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::callgraph::Order;
use super::rbtree::insertion_order;
use crate::profile::ThreadId;

/// What the order looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    /// The weight that counts first.
    pub(crate) weight: u64,
    /// The row's own weight.
    pub(crate) own: u64,
    /// The place of the keys as shown.
    pub(crate) shown: u64,
    /// The place of the keys as found.
    pub(crate) found: u64,
    /// The thread and the length of the longest chain of a row, if chains count.
    pub(crate) chain: Option<Chain>,
    /// Which row it is.
    pub(crate) row: u32,
}

/// A thread, and the length of the longest chain of a row.
pub(crate) type Chain = (ThreadId, u32);

/// Rows by weight and then by all that makes no circle. The rest takes one core alone.
pub(crate) struct Presorted<W> {
    rows: Vec<Ranked>,
    direction: Order,
    other_weights: W,
}

impl<W: Fn(u32, u32) -> Ordering + Sync> Presorted<W> {
    /// Sorts, on all cores. `other_weights` compares rows of equal own weight by those of other events.
    pub(crate) fn new(mut rows: Vec<Ranked>, direction: Order, other_weights: W) -> Presorted<W> {
        let rest =
            |a: &Ranked, b: &Ranked| compare_shown(a, b, &other_weights).then_with(|| a.found.cmp(&b.found));
        rows.par_sort_unstable_by(|a, b| b.weight.cmp(&a.weight).then_with(|| rest(a, b)));
        Presorted { rows, direction, other_weights }
    }

    /// The rows in the order of the report.
    pub(crate) fn settle(self) -> Vec<u32> {
        let Presorted { mut rows, direction, other_weights } = self;
        let mut circles = Vec::new();
        let mut last_of_thread = FxHashMap::default();
        let mut start = 0;
        for equals in rows.chunk_by_mut(|a, b| a.weight == b.weight) {
            let end = start + equals.len();
            if equals.len() > 1 && order_chains(equals, &mut last_of_thread, direction) == Clash::Circle {
                circles.push(start..end);
            }
            start = end;
        }
        if circles.is_empty() {
            return rows.iter().map(|ranked| ranked.row).collect();
        }
        let shown = |a: &Ranked, b: &Ranked| compare_shown(a, b, &other_weights);
        let order = order_by_insertion(&rows, &circles, direction, shown);
        order.into_iter().map(|place| rows[place as usize].row).collect()
    }
}

/// By own weights, and by what is shown.
fn compare_shown(a: &Ranked, b: &Ranked, other_weights: impl Fn(u32, u32) -> Ordering) -> Ordering {
    b.own.cmp(&a.own).then_with(|| other_weights(a.row, b.row)).then_with(|| a.shown.cmp(&b.shown))
}

#[derive(PartialEq, Eq)]
enum Clash {
    None,
    /// The chain rule contradicts the rest.
    Circle,
}

/// Applies the chain rule to rows of equal weight, which stand as the other rules have it.
fn order_chains(
    equals: &mut [Ranked],
    last_of_thread: &mut FxHashMap<ThreadId, Ranked>,
    direction: Order,
) -> Clash {
    let thread = |row: &Ranked| row.chain.map(|(thread, _)| thread);
    let first = equals.first().and_then(thread);
    if equals.iter().all(|row| thread(row) == first) {
        equals.sort_by(|a, b| compare_chains(a.chain, b.chain, direction));
        return Clash::None;
    }
    last_of_thread.clear();
    let agree = equals.iter().all(|row| {
        let before = thread(row).and_then(|thread| last_of_thread.insert(thread, *row));
        before.is_none_or(|before| compare_chains(before.chain, row.chain, direction).is_le())
    });
    if agree { Clash::None } else { Clash::Circle }
}

/// Callers above callees: with callers first, what has the longer chains below it is the caller.
#[inline]
fn compare_chains(a: Option<Chain>, b: Option<Chain>, direction: Order) -> Ordering {
    match (a, b) {
        (Some((one, a)), Some((other, b))) if one == other => match direction {
            Order::Caller => b.cmp(&a),
            Order::Callee => a.cmp(&b),
        },
        _ => Ordering::Equal,
    }
}

/// Sends the rows through perf's tree, and gives their places in its order. Rows of a circle have one rank, the others
/// their place.
fn order_by_insertion(
    rows: &[Ranked],
    circles: &[Range<usize>],
    direction: Order,
    shown: impl Fn(&Ranked, &Ranked) -> Ordering,
) -> Vec<u32> {
    let mut ranks: Vec<u32> = (0..rows.len() as u32).collect();
    for circle in circles {
        ranks[circle.clone()].fill(circle.start as u32);
    }
    let mut found: Vec<(u64, u32)> = rows.iter().zip(0..).map(|(row, place)| (row.found, place)).collect();
    found.par_sort_unstable();
    let arrivals: Vec<u32> = found.into_iter().map(|(_, place)| place).collect();
    // Rows stand by what they show: those that show the same have the place of the first of them. Places of a rank are all
    // before those of the next.
    let mut first = 0;
    let keys = rows.iter().zip(&ranks).enumerate().map(|(place, (row, &rank))| {
        let place = place as u32;
        if rows.get(first as usize).is_none_or(|first| shown(first, row).is_ne()) || rank == place {
            first = place;
        }
        (rank, Met { thread: row.chain.map_or(u32::MAX, |(thread, _)| thread.0), place: first })
    });
    let chains = |new: u32, met: u32| match ranks[new as usize] == ranks[met as usize] {
        true => compare_chains(rows[new as usize].chain, rows[met as usize].chain, direction),
        false => Ordering::Equal,
    };
    insertion_order(&arrivals, keys, |(new, a), (met, b)| {
        let by_chain = if a.thread == b.thread { chains(new, met) } else { Ordering::Equal };
        by_chain.then_with(|| a.place.cmp(&b.place)).is_lt()
    })
}

/// A row as those see it that meet it in the tree.
#[derive(Clone, Copy)]
struct Met {
    /// No thread's number, if chains do not count.
    thread: u32,
    /// The place by what is shown.
    place: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as (weight, thread, chain length, name).
    type Row = (u64, u32, u32, char);

    #[track_caller]
    fn check(rows: &[Row], expected: &str) {
        let ranked = |(&(weight, thread, depth, name), row): (&Row, u32)| Ranked {
            weight,
            own: 0,
            shown: u64::from(u32::from(name)),
            found: u64::from(row),
            chain: Some((ThreadId(thread), depth)),
            row,
        };
        let ranked = rows.iter().zip(0..).map(ranked).collect();
        let order = Presorted::new(ranked, Order::Caller, |_, _| Ordering::Equal).settle();
        let names: String = order.iter().map(|&row| rows[row as usize].3).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn weight_then_chain_then_name() {
        check(&[(1, 0, 9, 'l'), (5, 0, 1, 'a'), (5, 0, 3, 'm'), (5, 0, 1, 'b')], "mabl");
    }

    #[test]
    fn threads_that_agree_need_no_tree() {
        check(&[(5, 0, 1, 'z'), (5, 1, 2, 'm'), (5, 0, 3, 'a')], "amz");
    }

    #[test]
    fn a_circle_is_settled_by_the_order_of_arrival() {
        // b before c and c before d by name, d before b by chain.
        check(&[(5, 0, 1, 'b'), (5, 1, 1, 'c'), (5, 0, 9, 'd')], "dbc");
    }
}
