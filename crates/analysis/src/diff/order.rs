//! The order of the rows: by the change that was asked for, the baseline, the other changes, and at last by words.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{DiffOptions, DiffTable, Method};

/// The rows in their order, given what their keys say as numbers.
pub(super) fn ordered(table: &DiffTable, ranks: &[i64], options: &DiffOptions) -> Vec<u32> {
    let comparing = Comparing {
        table,
        ranks,
        options,
        keys: ranks.len() / table.rows.len().max(1),
    };
    let mut order: Vec<u32> = (0..table.rows.len() as u32).collect();
    order.par_sort_by(|&a, &b| comparing.rows(a as usize, b as usize));
    order
}

struct Comparing<'a> {
    table: &'a DiffTable,
    ranks: &'a [i64],
    options: &'a DiffOptions,
    keys: usize,
}

impl Comparing<'_> {
    fn rows(&self, a: usize, b: usize) -> Ordering {
        let changes = self.options.method != Method::Cycles;
        let sides = if changes {
            1..self.table.totals.len()
        } else {
            0..0
        };
        self.chosen(a, b)
            .then_with(|| self.baseline(b).cmp(&self.baseline(a)))
            .then_with(|| {
                sides
                    .map(|side| self.side(a, b, side))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            })
            .then_with(|| self.words(a).cmp(self.words(b)))
    }

    /// By the change that was asked for; a row without one comes behind.
    fn chosen(&self, a: usize, b: usize) -> Ordering {
        let side = self.options.order;
        if side == 0 || self.options.method == Method::Cycles {
            return Ordering::Equal;
        }
        let (one, other) = (self.rank(a, side), self.rank(b, side));
        let known = other.is_some().cmp(&one.is_some());
        if known.is_ne() || one.is_none() {
            return known;
        }
        if !self.options.method.is_of_new_rows() {
            let new = |row: usize| self.table.periods(row).first().copied().flatten().is_none();
            match (new(a), new(b)) {
                (true, true) => return Ordering::Equal,
                (false, false) => {}
                (one, other) => return one.cmp(&other),
            }
        }
        descending(one, other)
    }

    /// By one change; rows without any change come last.
    fn side(&self, a: usize, b: usize, side: usize) -> Ordering {
        let paired = |row: usize| self.table.periods(row).iter().skip(1).any(Option::is_some);
        let (one, other) = (self.rank(a, side), self.rank(b, side));
        paired(b)
            .cmp(&paired(a))
            .then_with(|| other.is_some().cmp(&one.is_some()))
            .then_with(|| descending(one, other))
    }

    fn rank(&self, row: usize, side: usize) -> Option<f64> {
        self.table
            .change(row, side)
            .map(|change| self.options.method.rank(change))
    }

    fn baseline(&self, row: usize) -> u64 {
        self.table
            .periods(row)
            .first()
            .copied()
            .flatten()
            .unwrap_or(0)
    }

    fn words(&self, row: usize) -> &[i64] {
        self.ranks
            .get(row * self.keys..(row + 1) * self.keys)
            .unwrap_or_default()
    }
}

fn descending(one: Option<f64>, other: Option<f64>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => other.total_cmp(&one),
        _ => Ordering::Equal,
    }
}
