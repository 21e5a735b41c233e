//! The order of the rows.
//!
//! Rows stand by weight. Between rows of equal weight perf asks, in this order: the length of the call chains, but
//! only between rows of one thread; their own weight; the keys as text; and what the rows were found by, which comes
//! down to addresses. Where the first of these questions makes a circle, [`super::rbtree`] decides as perf's tree does.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use rayon::prelude::*;

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
    pub(crate) fn new(rows: &[Ranked], direction: Order, other_weights: W) -> Presorted<W> {
        // Most rows are told apart by their weights, which are less to move about.
        let mut order: Vec<(Reverse<u64>, u32)> =
            rows.par_iter().zip(0..rows.len() as u32).map(|(row, at)| (Reverse(row.weight), at)).collect();
        order.par_sort_unstable();
        let mut rows: Vec<Ranked> = order.par_iter().map(|&(_, at)| rows[at as usize]).collect();
        let rest =
            |a: &Ranked, b: &Ranked| compare_shown(a, b, &other_weights).then_with(|| a.found.cmp(&b.found));
        rows.par_chunk_by_mut(|a, b| a.weight == b.weight).for_each(|equals| equals.sort_unstable_by(rest));
        Presorted { rows, direction, other_weights }
    }

    /// The rows in the order of the report.
    pub(crate) fn settle(self) -> Vec<u32> {
        let Presorted { mut rows, direction, other_weights } = self;
        let mut circles = Circles { direction, ..Circles::default() };
        let mut start = 0;
        for equals in rows.chunk_by_mut(|a, b| a.weight == b.weight) {
            circles.order_chains(equals, start);
            start += equals.len();
        }
        if circles.found.is_empty() {
            return rows.iter().map(|ranked| ranked.row).collect();
        }
        let mut found: Vec<(u64, u32)> =
            rows.iter().zip(0..).map(|(row, place)| (row.found, place)).collect();
        found.par_sort_unstable();
        let arrivals: Vec<u32> = found.into_iter().map(|(_, place)| place).collect();
        let less = |new: u32, met: u32| {
            let (new, met) = (&rows[new as usize], &rows[met as usize]);
            let by_chain = compare_chains(new.chain, met.chain, direction);
            by_chain.then_with(|| compare_shown(new, met, &other_weights)).is_lt()
        };
        let order = insertion_order(&arrivals, &circles.found, less);
        order.into_iter().map(|place| rows[place as usize].row).collect()
    }
}

/// By own weights, and by what is shown.
fn compare_shown(a: &Ranked, b: &Ranked, other_weights: impl Fn(u32, u32) -> Ordering) -> Ordering {
    b.own.cmp(&a.own).then_with(|| other_weights(a.row, b.row)).then_with(|| a.shown.cmp(&b.shown))
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

/// Where the chain rule contradicts the others.
#[derive(Default)]
struct Circles {
    direction: Order,
    /// Stretches of rows, ascending, that beat one another in a circle. Outside of them there is an order.
    found: Vec<Range<u32>>,
    /// The rows of a weight with their threads; those of one thread together.
    by_thread: Vec<(ThreadId, u32)>,
    /// Rows of a thread that come behind all of it that stand before them.
    last: Vec<u32>,
}

impl Circles {
    /// Applies the chain rule to rows of equal weight, which stand as the other rules have it, the first at `start`.
    fn order_chains(&mut self, equals: &mut [Ranked], start: usize) {
        if equals.len() < 2 || equals[0].chain.is_none() {
            return;
        }
        // Between neighbours of one thread there is nobody else whom one could beat and the other not.
        let thread = |row: &Ranked| row.chain.map(|(thread, _)| thread);
        for of_thread in equals.chunk_by_mut(|a, b| thread(a) == thread(b)) {
            of_thread.sort_by(|a, b| compare_chains(a.chain, b.chain, self.direction));
        }
        self.by_thread.clear();
        self.by_thread.extend(equals.iter().zip(0..).filter_map(|(row, at)| Some((thread(row)?, at))));
        self.by_thread.sort_unstable();
        let first = self.found.len();
        let by_thread = std::mem::take(&mut self.by_thread);
        for of_thread in by_thread.chunk_by(|a, b| a.0 == b.0) {
            self.find(of_thread, equals);
        }
        self.by_thread = by_thread;
        self.join(first);
        self.found[first..].iter_mut().for_each(|circle| {
            *circle = start as u32 + circle.start..start as u32 + circle.end;
        });
    }

    /// Finds where a row of a thread has to stand before one that stands before it. Whoever stands between these two is
    /// part of the circle.
    fn find(&mut self, of_thread: &[(ThreadId, u32)], equals: &[Ranked]) {
        self.last.clear();
        for &(_, at) in of_thread {
            let is_behind = |other: u32| {
                compare_chains(equals[other as usize].chain, equals[at as usize].chain, self.direction)
                    .is_gt()
            };
            // The rows of `last` follow one another, so the first of those that belong behind is found by halves.
            let before = self.last.partition_point(|&other| !is_behind(other));
            match self.last.get(before) {
                Some(&other) => self.found.push(other..at + 1),
                None => self.last.push(at),
            }
        }
    }

    /// Makes one of circles that share rows, from the `first` one on.
    fn join(&mut self, first: usize) {
        self.found[first..].sort_unstable_by_key(|circle| circle.start);
        let mut joined = first;
        for at in first..self.found.len() {
            let circle = self.found[at].clone();
            match self.found[first..joined].last_mut() {
                Some(last) if circle.start < last.end => last.end = last.end.max(circle.end),
                _ => {
                    self.found[joined] = circle;
                    joined += 1;
                }
            }
        }
        self.found.truncate(joined);
    }
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
        let ranked: Vec<Ranked> = rows.iter().zip(0..).map(ranked).collect();
        let order = Presorted::new(&ranked, Order::Caller, |_, _| Ordering::Equal).settle();
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

    #[test]
    fn neighbours_of_one_thread_make_no_circle() {
        let ranked = |(thread, depth, row): (u32, u32, u32)| Ranked {
            weight: 5,
            own: 0,
            shown: u64::from(row),
            found: u64::from(row),
            chain: Some((ThreadId(thread), depth)),
            row,
        };
        let mut rows = [(0, 1, 0), (0, 3, 1), (1, 1, 2), (0, 2, 3), (1, 0, 4)].map(ranked);
        let mut circles = Circles::default();
        circles.order_chains(&mut rows, 10);
        assert_eq!(rows.map(|row| row.row), [1, 0, 2, 3, 4]);
        assert_eq!(circles.found.as_slice(), std::slice::from_ref(&(11..14)));
    }

    #[test]
    fn outside_of_circles_there_is_an_order() {
        // The same as if all rows of a weight were one circle.
        let mut state = 1u64;
        let mut below = |count: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % count
        };
        for _ in 0..200 {
            let mut ranked = |row: u32| Ranked {
                weight: below(2),
                own: below(2),
                shown: below(9),
                found: u64::from(row),
                chain: Some((ThreadId(below(4) as u32), below(3) as u32)),
                row,
            };
            let rows: Vec<Ranked> = (0..30).map(&mut ranked).collect();
            let direction = if below(2) == 0 { Order::Caller } else { Order::Callee };
            let less = |new: u32, met: u32| {
                let (new, met) = (&rows[new as usize], &rows[met as usize]);
                let by_chain = || compare_chains(new.chain, met.chain, direction);
                let by_weight = met.weight.cmp(&new.weight);
                by_weight
                    .then_with(by_chain)
                    .then_with(|| compare_shown(new, met, |_, _| Ordering::Equal))
                    .is_lt()
            };
            let arrivals: Vec<u32> = (0..30).collect();
            let expected = insertion_order(&arrivals, std::slice::from_ref(&(0..30)), less);
            assert_eq!(Presorted::new(&rows, direction, |_, _| Ordering::Equal).settle(), expected);
        }
    }
}
