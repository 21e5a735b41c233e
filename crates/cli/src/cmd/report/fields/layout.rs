//! The columns of a table and the order of its rows, from what was asked for and what is known.

use oxperf_analysis::hist::{Field, Measure};

use super::{Fields, extend_new};

/// The columns of a table and the order of its rows.
pub(in crate::cmd::report) struct Layout {
    pub(in crate::cmd::report) columns: Vec<Field>,
    pub(in crate::cmd::report) order_by: Vec<Field>,
    /// The share of a row's own code is called `Self`.
    pub(in crate::cmd::report) own_is_self: bool,
}

/// The use of the time that passed while threads ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cmd::report) enum LatencyUse {
    /// Nothing.
    Unknown,
    /// Rows stand in order by it, too, but it has a column only where it is asked for.
    Known,
    /// It has a column.
    Shown,
}

impl Fields {
    /// The columns, once it is known whether callers and times count.
    pub(in crate::cmd::report) fn layout(&self, children: bool, times: LatencyUse) -> Layout {
        let order = self.order(children, times != LatencyUse::Unknown);
        let latency =
            times == LatencyUse::Shown || times == LatencyUse::Known && self.names_latency();
        let mut columns = Vec::new();
        if self.strict {
            extend_new(&mut columns, self.shown.iter().copied());
        } else {
            let weights = weights(true, true, self.prefer_latency).map(Field::Measure);
            extend_new(
                &mut columns,
                weights.filter(|weight| order.contains(weight)),
            );
            extend_new(&mut columns, self.added.iter().copied().map(Field::Measure));
            extend_new(&mut columns, self.shown.iter().copied());
        }
        extend_new(&mut columns, order.iter().copied());
        columns.retain(|column| match column {
            Field::Measure(Measure::Children) => children || self.strict,
            Field::Measure(Measure::ChildrenLatency) => children && latency,
            Field::Measure(Measure::OwnLatency) => latency,
            _ => true,
        });
        let mut order_by = order;
        extend_new(&mut order_by, columns.iter().copied());
        order_by.retain(|field| match field {
            Field::Measure(measure) => {
                !measure.is_of_branches() && (children || *measure != Measure::Children)
            }
            Field::Key(_) => true,
        });
        Layout {
            columns,
            order_by,
            own_is_self: children && !self.strict,
        }
    }

    /// The order of the rows, as far as the keys say it.
    fn order(&self, children: bool, latency: bool) -> Vec<Field> {
        let mut order = Vec::new();
        let silent = self.strict;
        if self.prefer_latency && !silent {
            extend_new(
                &mut order,
                weights(children, true, true).map(Field::Measure),
            );
        } else if !self.weighs && !silent {
            extend_new(
                &mut order,
                weights(children, latency, false).map(Field::Measure),
            );
        }
        extend_new(&mut order, self.sort.iter().copied());
        order
    }
}

/// The weights that rows stand in order by when nobody says otherwise.
fn weights(children: bool, latency: bool, latency_first: bool) -> impl Iterator<Item = Measure> {
    let pairs = [
        (children, Measure::Children, Measure::ChildrenLatency),
        (true, Measure::Own, Measure::OwnLatency),
    ];
    pairs
        .into_iter()
        .filter(|pair| pair.0)
        .flat_map(move |(_, samples, time)| {
            let pair = if latency_first {
                [time, samples]
            } else {
                [samples, time]
            };
            pair.into_iter()
                .filter(move |&measure| latency || measure != time)
        })
}
