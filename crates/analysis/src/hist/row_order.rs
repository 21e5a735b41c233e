//! The order of a table's rows: by weight and keys as usual, or by the fields that a report is sorted by.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::columns::{Columns, KeyRanks};
use super::counted_rows::CountedRows;
use super::measure::{Field, Measure};
use super::order::{ByWeight, Chain, Presorted, Ranked, Ranking, Rules};
use super::rank::ranks;
use super::table_context::TableContext;

/// Puts rows in order.
#[derive(Clone, Copy)]
pub(crate) struct RowOrder<'a> {
    pub(crate) context: TableContext<'a>,
    pub(crate) rows: &'a CountedRows,
}

impl<'a> RowOrder<'a> {
    /// The rows in the usual order, as far as all cores can bring them there; `None` if they are to stand otherwise.
    pub(crate) fn usual(self) -> Option<Presorted<ByKeys<'a>>> {
        if !self.context.options.is_usual_order() {
            return None;
        }
        let weights = self
            .rows
            .cells
            .par_chunks(self.context.events.len())
            .map(|cells| cells[0].all.period);
        let (ranks, by_weight) = rayon::join(|| self.key_ranks(), || ByWeight::new(weights));
        let rules = Rules {
            rows: ByKeys {
                order: self,
                shown: ranks.shown,
            },
            found: ranks.found,
            direction: self.context.scope.order,
        };
        Some(Presorted::new(by_weight, rules))
    }

    /// The rows by the fields that they are sorted by.
    pub(crate) fn by_fields(self) -> Vec<u32> {
        let options = self.context.options;
        let terms = options.order_by.iter().map(|field| self.term(*field));
        let terms: Vec<Vec<u64>> = terms.collect();
        let found = self.all_columns().ranks(self.rows.keys()).found;
        match self.callees_in_order() {
            Some(callees) => {
                let (first, rest) = terms.split_at(callees + 1);
                self.by_terms_and_chains(first, rest, found)
            }
            None => {
                let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
                order.par_sort_by(|&a, &b| {
                    let terms = terms.iter().chain([&found]);
                    let ranks = |row: u32| terms.clone().map(move |term| term[row as usize]);
                    ranks(a).cmp(ranks(b))
                });
                order
            }
        }
    }

    /// The rank of each row by a field.
    fn term(self, field: Field) -> Vec<u64> {
        match field {
            Field::Key(key) => {
                let shared = self.context.shared;
                let keys = &self.context.options.keys;
                let column = Columns::of_key(key, keys, &shared.tasks, &shared.locations);
                column.ranks(self.rows.keys()).shown
            }
            Field::Measure(measure) => {
                let members = self.members_by(measure);
                let weights = (0..self.rows.len() as u32).map(|row| {
                    let of_member = |&at: &u32| !self.rows.rank(row, at, measure);
                    members.iter().map(of_member).collect::<Vec<u64>>()
                });
                ranks(weights).into_iter().map(u64::from).collect()
            }
        }
    }

    /// The events in the order in which their weights count.
    fn members_by(self, measure: Measure) -> Vec<u32> {
        let count = self.context.events.len();
        let first = self.context.options.order_by_event.min(count - 1) as u32;
        let others = (0..count as u32).filter(|&member| member != first);
        let members = std::iter::once(first).chain(others);
        let limit = if measure == Measure::Children {
            1
        } else {
            usize::MAX
        };
        members.take(limit).collect()
    }

    /// Rows in the order of some terms, then of the lengths of their chains, then of other terms.
    fn by_terms_and_chains(
        self,
        first: &[Vec<u64>],
        rest: &[Vec<u64>],
        found: Vec<u64>,
    ) -> Vec<u32> {
        let joined = |terms: &[Vec<u64>]| {
            let row = |row: usize| terms.iter().map(|term| term[row]).collect::<Vec<u64>>();
            ranks((0..self.rows.len()).map(row))
        };
        let (first, rest) = (joined(first), joined(rest));
        let by_weight = ByWeight::new(first.par_iter().map(|&rank| !u64::from(rank)));
        let ranked = |(row, &rest): (u32, &u32)| Ranked {
            own: 0,
            shown: rest.into(),
            chain: self.chain(row),
            row,
        };
        let rules = Rules {
            rows: (0..).zip(&rest).map(ranked).collect::<Vec<Ranked>>(),
            found,
            direction: self.context.scope.order,
        };
        Presorted::new(by_weight, rules).settle()
    }

    /// The index in the order at which rows stand by what they called, too. Between rows that are equal up to there the
    /// length of their chains decides.
    fn callees_in_order(self) -> Option<usize> {
        let callees = [Measure::Children, Measure::ChildrenLatency].map(Field::Measure);
        let mut fields = self.context.options.order_by.iter();
        let index = fields.position(|field| callees.contains(field));
        index.filter(|_| self.context.orders_by_chains())
    }

    /// The thread and the length of the longest chain of a row, if chains count.
    fn chain(self, row: u32) -> Option<Chain> {
        let row = &self.rows.list[row as usize];
        self.context.orders_by_chains().then(|| row.chain())
    }

    fn all_columns(self) -> Columns {
        let shared = self.context.shared;
        Columns::new(&self.context.options.keys, &shared.tasks, &shared.locations)
    }

    /// The ranks of the rows by their keys.
    fn key_ranks(self) -> KeyRanks {
        let mut ranks = self.all_columns().ranks(self.rows.keys());
        self.put_measures_behind(&mut ranks.shown);
        ranks
    }

    /// Measures that the order goes on with behind the keys separate rows that show the same.
    fn put_measures_behind(self, shown: &mut Vec<u64>) {
        let fields = self.context.options.order_by.iter();
        let later = fields.skip_while(|field| matches!(field, Field::Measure(_)));
        let later: Vec<Measure> = later
            .filter_map(|field| match field {
                Field::Measure(measure) => Some(*measure),
                Field::Key(_) => None,
            })
            .collect();
        if later.is_empty() {
            return;
        }
        let weights = |row: u32| {
            let of_measure = |&measure: &Measure| !self.rows.rank(row, 0, measure);
            later.iter().map(of_measure).collect::<Vec<u64>>()
        };
        let shown_and_weights = (0..).zip(&*shown);
        let ranks = ranks(shown_and_weights.map(|(row, &shown)| (shown, weights(row))));
        *shown = ranks.into_iter().map(u64::from).collect();
    }
}

/// Rows in the usual order.
pub(crate) struct ByKeys<'a> {
    order: RowOrder<'a>,
    /// The ranks of their keys as shown.
    shown: Vec<u64>,
}

impl Ranking for ByKeys<'_> {
    fn look(&self, row: u32) -> Ranked {
        Ranked {
            own: self.order.rows.leader(row).own.period,
            shown: self.shown[row as usize],
            chain: self.order.chain(row),
            row,
        }
    }

    fn other_weights(&self, a: u32, b: u32) -> Ordering {
        let own = |row| {
            let others = self.order.rows.cells(row).iter().skip(1);
            others.map(|cell| cell.own.period)
        };
        own(b).cmp(own(a))
    }
}
