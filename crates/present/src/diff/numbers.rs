//! The columns of numbers: baseline, changes, how they come about, periods.

use std::io::Write;

use oxperf_analysis::diff::{DiffChange, DiffTable, Method};

use super::DiffText;
use super::stretches::Stretches;
use crate::text::padding::Right;

/// Width of periods, ratios and weighted differences.
const NUMBER_WIDTH: usize = 14;
/// Width of a formula.
const FORMULA_WIDTH: usize = 70;
/// Width of where a stretch of code lies.
const RANGE_WIDTH: usize = 70;
/// Width of how changes scatter.
const SCATTER_WIDTH: usize = 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Baseline,
    Change(Method),
    Scatter,
    Formula(Method),
    Period,
}

/// A column about one of the recordings.
pub(super) struct NumberColumn {
    pub(super) heading: String,
    pub(super) width: usize,
    kind: Kind,
    side: usize,
}

/// All columns of numbers.
pub(super) fn columns(text: &DiffText) -> Vec<NumberColumn> {
    let several = text.files.len() > 2;
    let of_side = |side: usize| {
        let method = text.method;
        let change = if side == 0 {
            Kind::Baseline
        } else {
            Kind::Change(method)
        };
        let formula = (text.formula && side > 0).then_some(Kind::Formula(method));
        let scatter = (text.scatter && side > 0).then_some(Kind::Scatter);
        let period = text.periods.then_some(Kind::Period);
        let kinds = [Some(change), scatter, formula, period]
            .into_iter()
            .flatten();
        kinds.map(move |kind| NumberColumn::new(kind, side, several))
    };
    (0..text.files.len()).flat_map(of_side).collect()
}

impl NumberColumn {
    fn new(kind: Kind, side: usize, several: bool) -> NumberColumn {
        let (heading, least) = match (kind, side) {
            (Kind::Baseline, _) => ("Baseline", 0),
            (Kind::Change(Method::Delta), _) => ("Delta", 7),
            (Kind::Change(Method::DeltaAbs), _) => ("Delta Abs", 7),
            (Kind::Change(Method::Ratio), _) => ("Ratio", NUMBER_WIDTH),
            (Kind::Change(Method::Weighted { .. }), _) => ("Weighted diff", NUMBER_WIDTH),
            (Kind::Change(Method::Cycles), _) => ("[Program Block Range] Cycles Diff", RANGE_WIDTH),
            (Kind::Scatter, _) => ("stddev/Hist", SCATTER_WIDTH),
            (Kind::Formula(_), _) => ("Formula", FORMULA_WIDTH),
            (Kind::Period, 0) => ("Base period", NUMBER_WIDTH),
            (Kind::Period, _) => ("Period", NUMBER_WIDTH),
        };
        let heading = if several {
            format!("{heading}/{side}")
        } else {
            heading.to_owned()
        };
        NumberColumn {
            width: least.max(heading.len()),
            heading,
            kind,
            side,
        }
    }

    /// The column's value for a stretch; `None` for a column about the whole row.
    pub(super) fn of_stretch(&self, stretches: &Stretches<'_>, line: usize) -> Option<Number> {
        let text = |text: Option<String>| text.map_or(Number::Nothing, Number::Text);
        match self.kind {
            Kind::Change(Method::Cycles) => Some(text(stretches.range(self.side, line))),
            Kind::Scatter => Some(text(stretches.scatter(self.side, line))),
            Kind::Formula(Method::Cycles) => Some(Number::Nothing),
            _ => None,
        }
    }
}

/// The content of a cell.
pub(super) enum Number {
    Nothing,
    /// The baseline has not the row, so that there is no such number.
    NotApplicable,
    /// A part of all in hundredths.
    Share(f64),
    Delta(f64),
    Ratio(f64),
    Weighted(i64),
    Period(u64),
    Formula(Method, DiffChange),
    /// The value of a stretch of code.
    Text(String),
}

impl Number {
    pub(super) fn of(table: &DiffTable, column: &NumberColumn, row: usize) -> Number {
        let old = table.periods(row).first().copied().flatten();
        match (column.kind, table.change(row, column.side), old) {
            (Kind::Period, _, _) if column.side == 0 => Number::Period(old.unwrap_or(0)),
            (Kind::Baseline, Some(change), _) => {
                Number::Share(share(change.new, table.baseline_total))
            }
            (_, None, _) | (Kind::Scatter, _, _) => Number::Nothing,
            (Kind::Change(method @ (Method::Delta | Method::DeltaAbs)), Some(change), _) => {
                Number::Delta(method.value(change))
            }
            (Kind::Change(_), Some(_), None) => Number::NotApplicable,
            (Kind::Change(method), Some(change), Some(_)) => match method.weighted(change) {
                Some(difference) => Number::Weighted(difference),
                None => Number::Ratio(method.value(change)),
            },
            (Kind::Formula(method), Some(change), _) => Number::Formula(method, change),
            (Kind::Period, Some(change), _) => Number::Period(change.new),
        }
    }

    /// The number at the right of its column; the column is filled up by the caller.
    pub(super) fn aligned(&self, buffer: &mut Vec<u8>, column: &NumberColumn) {
        let width = column.width;
        let less = width.saturating_sub(1);
        // Writing to a vector cannot fail.
        let _ = match *self {
            Number::Nothing => Ok(()),
            Number::Text(ref text) => write!(buffer, "{}", Right(text, width)),
            Number::NotApplicable => write!(buffer, "{}", Right("N/A", width)),
            Number::Share(share) => write!(buffer, "{}%", Right(format_args!("{share:.2}"), less)),
            Number::Delta(delta) => write!(buffer, "{}%", Right(format_args!("{delta:+.2}"), less)),
            Number::Ratio(ratio) => write!(buffer, "{}", Right(format_args!("{ratio:.6}"), width)),
            Number::Weighted(difference) => write!(buffer, "{difference:NUMBER_WIDTH$}"),
            Number::Period(period) => write!(buffer, "{}", Right(period, width)),
            Number::Formula(method, change) => {
                write!(buffer, "{}", Right(formula(method, change), width))
            }
        };
    }

    /// The number as it stands between separators.
    pub(super) fn plain(&self, buffer: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = match *self {
            Number::Nothing => Ok(()),
            Number::Text(ref text) => write!(buffer, "{text}"),
            Number::NotApplicable => write!(buffer, "N/A"),
            Number::Share(share) => write!(buffer, "{share:.2}"),
            Number::Delta(delta) => write!(buffer, "{delta:+.2}%"),
            Number::Ratio(ratio) if ratio > 0.0 => write!(buffer, "{ratio:NUMBER_WIDTH$.6}"),
            Number::Weighted(difference) if difference != 0 => {
                write!(buffer, "{difference:NUMBER_WIDTH$}")
            }
            Number::Ratio(_) | Number::Weighted(_) => Ok(()),
            Number::Period(period) => write!(buffer, "{period}"),
            Number::Formula(method, change) => write!(buffer, "{}", formula(method, change)),
        };
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 * 100.0 / all as f64
    }
}

fn formula(method: Method, change: DiffChange) -> String {
    let DiffChange {
        new,
        new_total,
        old_total,
        ..
    } = change;
    let old = change.old.unwrap_or(0);
    match method {
        Method::Delta | Method::DeltaAbs => {
            format!("({new} * 100 / {new_total}) - ({old} * 100 / {old_total})")
        }
        Method::Ratio => format!("{new} / {old}"),
        Method::Cycles => String::new(),
        Method::Weighted {
            old: old_weight,
            new: new_weight,
        } => {
            format!("({new} * {new_weight}) - ({old} * {old_weight})")
        }
    }
}
