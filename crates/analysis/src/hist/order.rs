//! The order of the rows.
//!
//! Rows stand by weight. Between rows of equal weight perf asks, in this order: the length of the call chains, but
//! only between rows of one thread; their own weight; the keys as text; and what the rows were found by, which comes
//! down to addresses. Where the first of these questions makes a circle, [`super::rbtree`] decides as perf's tree does.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::rank::Numbered;
use super::rbtree::insertion_order;
use oxperf_profile::ChainOrder;
use oxperf_profile::ThreadId;

/// What tells a row from others of its weight, beside what it was found by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    /// The row's own weight.
    pub(crate) own: u64,
    /// The place of the keys as shown.
    pub(crate) shown: u64,
    /// The thread and the length of the longest chain of a row, if chains count.
    pub(crate) chain: Option<Chain>,
    /// Which row it is.
    pub(crate) row: u32,
}

/// A thread, and the length of the longest chain of a row.
pub(crate) type Chain = (ThreadId, u32);

/// Rows that are to be put in order. They are looked at where they meet others of their weight, which most do not.
pub(crate) trait Ranking: Sync {
    /// What tells a row from others of its weight.
    fn look(&self, row: u32) -> Ranked;

    /// Compares rows of equal own weight by those of other events.
    fn other_weights(&self, _: u32, _: u32) -> Ordering {
        Ordering::Equal
    }
}

impl Ranking for Vec<Ranked> {
    fn look(&self, row: u32) -> Ranked {
        self[row as usize]
    }
}

/// Rows with all that they are compared by.
pub(crate) struct Rules<R> {
    pub(crate) rows: R,
    /// The place of each row's keys as found.
    pub(crate) found: Vec<u64>,
    pub(crate) direction: ChainOrder,
}

impl<R: Ranking> Rules<R> {
    /// By own weights, and by what is shown.
    fn compare_shown(&self, a: &Ranked, b: &Ranked) -> Ordering {
        let own = b.own.cmp(&a.own);
        own.then_with(|| self.rows.other_weights(a.row, b.row))
            .then_with(|| a.shown.cmp(&b.shown))
    }

    /// All that makes no circle.
    fn compare(&self, a: &Ranked, b: &Ranked) -> Ordering {
        let found = |ranked: &Ranked| self.found[ranked.row as usize];
        self.compare_shown(a, b)
            .then_with(|| found(a).cmp(&found(b)))
    }

    /// All rules but the last, to rows of equal weight.
    fn is_less(&self, new: &Ranked, met: &Ranked) -> bool {
        let by_chain = compare_chains(new.chain, met.chain, self.direction);
        by_chain.then_with(|| self.compare_shown(new, met)).is_lt()
    }
}

/// Rows by falling weight; those of one weight as they are numbered.
pub(crate) struct ByWeight {
    /// By the complements of their weights.
    rows: Vec<Numbered>,
}

impl ByWeight {
    /// Takes the weights of the rows.
    pub(crate) fn new(weights: impl IndexedParallelIterator<Item = u64>) -> ByWeight {
        let rows = weights
            .enumerate()
            .map(|(row, weight)| Numbered::new(!weight, row as u32));
        let mut rows: Vec<Numbered> = rows.collect();
        rows.par_sort_unstable();
        ByWeight { rows }
    }

    /// Pieces of at least so many rows, each with its first place. Rows of one weight are in one piece.
    fn pieces(&mut self, least: usize) -> Vec<(u32, &mut [Numbered])> {
        let (mut pieces, mut start, mut rest) = (Vec::new(), 0, self.rows.as_mut_slice());
        while let Some(last) = rest
            .get(least - 1)
            .or(rest.last())
            .map(|last| last.number())
        {
            let end = rest.partition_point(|row| row.number() <= last);
            let (piece, others) = std::mem::take(&mut rest).split_at_mut(end);
            pieces.push((start, piece));
            start += end as u32;
            rest = others;
        }
        pieces
    }
}

/// So many rows are worth another worker.
const PIECE: usize = 4096;

/// Rows by weight and then by all that makes no circle. The rest takes one core alone.
pub(crate) struct Presorted<R> {
    order: Vec<u32>,
    /// Stretches of rows, ascending, that beat one another in a circle. Outside of them there is an order.
    circles: Vec<Range<u32>>,
    rules: Rules<R>,
}

impl<R: Ranking> Presorted<R> {
    /// Sorts rows of equal weight, on all cores.
    pub(crate) fn new(mut rows: ByWeight, rules: Rules<R>) -> Presorted<R> {
        let pieces = rows.pieces(PIECE).into_par_iter();
        let circles = pieces
            .flat_map_iter(|(start, piece)| sort_piece(start, piece, &rules))
            .collect();
        let order = rows.rows.into_par_iter().map(Numbered::item).collect();
        Presorted {
            order,
            circles,
            rules,
        }
    }

    /// The rows in the order of the report.
    pub(crate) fn settle(self) -> Vec<u32> {
        let Presorted {
            mut order,
            circles,
            rules,
        } = self;
        if circles.is_empty() {
            return order;
        }
        let mut places = vec![0; order.len()];
        order
            .iter()
            .zip(0..)
            .for_each(|(&row, place)| places[row as usize] = place);
        let found = rules.found.iter().zip(places);
        let mut arrivals: Vec<Numbered> = found
            .map(|(&found, place)| Numbered::new(found, place))
            .collect();
        arrivals.sort_unstable();
        let arrivals: Vec<u32> = arrivals.into_iter().map(Numbered::item).collect();
        let look = |place: u32| rules.rows.look(order[place as usize]);
        let less = |new: u32, met: u32| rules.is_less(&look(new), &look(met));
        let settled = insertion_order(&arrivals, &circles, less);
        let settled: Vec<u32> = settled
            .into_iter()
            .map(|place| order[place as usize])
            .collect();
        circles
            .into_iter()
            .flatten()
            .zip(settled)
            .for_each(|(place, row)| order[place as usize] = row);
        order
    }
}

/// Sorts rows of some weights, the first of which stands at `start`; gives the circles among them.
fn sort_piece<R: Ranking>(
    mut start: u32,
    piece: &mut [Numbered],
    rules: &Rules<R>,
) -> Vec<Range<u32>> {
    let mut circles = Circles {
        direction: rules.direction,
        ..Circles::default()
    };
    let mut equals = Vec::new();
    for rows in piece.chunk_by_mut(|a, b| a.number() == b.number()) {
        if rows.len() > 1 {
            equals.clear();
            equals.extend(rows.iter().map(|row| rules.rows.look(row.item())));
            equals.sort_unstable_by(|a, b| rules.compare(a, b));
            circles.order_chains(&mut equals, start as usize);
            let weight = rows[0].number();
            rows.iter_mut()
                .zip(&equals)
                .for_each(|(place, row)| *place = Numbered::new(weight, row.row));
        }
        start += rows.len() as u32;
    }
    circles.found
}

/// Callers above callees: with callers first, what has the longer chains below it is the caller.
#[inline]
fn compare_chains(a: Option<Chain>, b: Option<Chain>, direction: ChainOrder) -> Ordering {
    match (a, b) {
        (Some((one, a)), Some((other, b))) if one == other => match direction {
            ChainOrder::Caller => b.cmp(&a),
            ChainOrder::Callee => a.cmp(&b),
        },
        _ => Ordering::Equal,
    }
}

/// Where the chain rule contradicts the others.
#[derive(Default)]
struct Circles {
    direction: ChainOrder,
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
        self.by_thread.extend(
            equals
                .iter()
                .zip(0..)
                .filter_map(|(row, at)| Some((thread(row)?, at))),
        );
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
                compare_chains(
                    equals[other as usize].chain,
                    equals[at as usize].chain,
                    self.direction,
                )
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

    /// The order of rows that are found by their numbers.
    fn order_of(
        weights: impl IndexedParallelIterator<Item = u64>,
        ranked: &[Ranked],
        direction: ChainOrder,
    ) -> Vec<u32> {
        let rules = Rules {
            rows: ranked.to_vec(),
            found: (0..ranked.len() as u64).collect(),
            direction,
        };
        Presorted::new(ByWeight::new(weights), rules).settle()
    }

    /// Rows as (weight, thread, chain length, name).
    type Row = (u64, u32, u32, char);

    #[track_caller]
    fn check(rows: &[Row], expected: &str) {
        let ranked = |(&(_, thread, depth, name), row): (&Row, u32)| Ranked {
            own: 0,
            shown: u64::from(u32::from(name)),
            chain: Some((ThreadId(thread), depth)),
            row,
        };
        let ranked: Vec<Ranked> = rows.iter().zip(0..).map(ranked).collect();
        let order = order_of(
            rows.par_iter().map(|row| row.0),
            &ranked,
            ChainOrder::Caller,
        );
        let names: String = order.iter().map(|&row| rows[row as usize].3).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn weight_then_chain_then_name() {
        check(
            &[
                (1, 0, 9, 'l'),
                (5, 0, 1, 'a'),
                (5, 0, 3, 'm'),
                (5, 0, 1, 'b'),
            ],
            "mabl",
        );
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
            own: 0,
            shown: u64::from(row),
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
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % count
        };
        for _ in 0..200 {
            let weights: Vec<u64> = (0..30).map(|_| below(2)).collect();
            let mut ranked = |row: u32| Ranked {
                own: below(2),
                shown: below(9),
                chain: Some((ThreadId(below(4) as u32), below(3) as u32)),
                row,
            };
            let rows: Vec<Ranked> = (0..30).map(&mut ranked).collect();
            let direction = if below(2) == 0 {
                ChainOrder::Caller
            } else {
                ChainOrder::Callee
            };
            let less = |new: u32, met: u32| {
                let by_weight = weights[met as usize].cmp(&weights[new as usize]);
                let (new, met) = (&rows[new as usize], &rows[met as usize]);
                let by_chain = || compare_chains(new.chain, met.chain, direction);
                let by_own = || met.own.cmp(&new.own);
                let by_shown = || new.shown.cmp(&met.shown);
                by_weight
                    .then_with(by_chain)
                    .then_with(by_own)
                    .then_with(by_shown)
                    .is_lt()
            };
            let arrivals: Vec<u32> = (0..30).collect();
            let expected = insertion_order(&arrivals, std::slice::from_ref(&(0..30)), less);
            assert_eq!(
                order_of(weights.par_iter().copied(), &rows, direction),
                expected
            );
        }
    }
}
