//! Recordings side by side: rows of two and more profiles that are about the same, and how they changed.
//!
//! The recordings may come from different builds and machines, so rows are the same by what their keys say (an object's
//! name, a symbol's name) and never by addresses. All code of an object without a symbol is one row.
//!
//! ```
//! use oxperf_analysis::diff::{DiffOptions, Side, compare};
//! use oxperf_profile::Profile;
//! let (old, new) = (Profile::default(), Profile::default());
//! let sides = [&old, &new].map(|profile| Side { profile, event: None, table: None });
//! assert!(compare(&sides, &DiffOptions::default()).rows().is_empty());
//! ```

mod identity;
mod method;
mod order;
mod stretches;
#[cfg(test)]
mod tests;

use crate::hist::{SortKey, Table};
use oxperf_profile::Profile;

pub use method::Method;
pub use stretches::{StretchChange, stretches};

use identity::Identities;

/// What to compare, and how.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// What rows are about: tasks, objects, symbols, CPUs, source lines; other keys tell nothing here.
    pub keys: Vec<SortKey>,
    /// How a change is told.
    pub method: Method,
    /// The side whose change orders the rows; 0 orders them by the baseline.
    pub order: usize,
    /// Leave rows out that the baseline has not, or has alone.
    pub baseline_only: bool,
}

impl Default for DiffOptions {
    fn default() -> Self {
        let keys = vec![SortKey::Dso, SortKey::Symbol];
        DiffOptions {
            keys,
            method: Method::DeltaAbs,
            order: 1,
            baseline_only: false,
        }
    }
}

/// One event of one recording.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The recording.
    pub profile: &'a Profile,
    /// The event, as an index of [`Profile::events`]; `None` where the recording has no such event.
    pub event: Option<usize>,
    /// The event's rows by the keys of the comparison; `None` where it has no samples.
    pub table: Option<&'a Table>,
}

/// The rows of all sides; the first side is the baseline.
#[derive(Debug)]
pub struct DiffTable {
    rows: Vec<DiffRow>,
    /// For each row one period a side.
    periods: Vec<Option<u64>>,
    /// For each row one of each side's own rows that it stands for.
    places: Vec<Option<usize>>,
    /// The sum of all periods of each side.
    pub totals: Vec<u64>,
    /// What rows are shares of on the baseline: the sum of all periods, or of those rows that were not left out.
    pub baseline_total: u64,
}

/// Where to see what a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffRow {
    /// The first side that has the row.
    pub side: usize,
    /// The row of its table.
    pub row: usize,
}

/// The sum of a row's periods on the baseline and on another side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffChange {
    /// On the baseline; `None` for a row that is not there.
    pub old: Option<u64>,
    /// On the other side.
    pub new: u64,
    /// The sum of all periods on the baseline.
    pub old_total: u64,
    /// The sum of all periods on the other side.
    pub new_total: u64,
}

impl DiffTable {
    /// The rows, the greatest change first.
    pub fn rows(&self) -> &[DiffRow] {
        &self.rows
    }

    /// The periods of a row, one a side; none for a row that is not there.
    pub fn periods(&self, row: usize) -> &[Option<u64>] {
        let width = self.totals.len();
        self.periods
            .get(row * width..(row + 1) * width)
            .unwrap_or_default()
    }

    /// A row of a side's own table that a row stands for: the one to show.
    pub fn place(&self, row: usize, side: usize) -> Option<usize> {
        let width = self.totals.len();
        self.places
            .get(row * width..(row + 1) * width)?
            .get(side)
            .copied()
            .flatten()
    }

    /// How a row changed from the baseline to a side; `None` where that side has not the row.
    pub fn change(&self, row: usize, side: usize) -> Option<DiffChange> {
        let periods = self.periods(row);
        let new = (*periods.get(side)?)?;
        let old = periods.first().copied().flatten();
        Some(DiffChange {
            old,
            new,
            old_total: *self.totals.first()?,
            new_total: *self.totals.get(side)?,
        })
    }
}

/// Puts the sides beside each other.
pub fn compare(sides: &[Side<'_>], options: &DiffOptions) -> DiffTable {
    let totals = sides.iter().map(|side| {
        let event = side.event.and_then(|event| side.profile.events.get(event));
        event.map_or(0, |event| event.period_total)
    });
    let mut joined = Joined::new(sides, &options.keys, totals.collect());
    if options.baseline_only {
        joined.retain_common();
    }
    let order = order::ordered(&joined.table, &joined.ranks(sides, &options.keys), options);
    let table = joined.table;
    let periods = order
        .iter()
        .flat_map(|&row| table.periods(row as usize))
        .copied()
        .collect();
    let sides = 0..sides.len();
    let places = order
        .iter()
        .flat_map(|&row| sides.clone().map(move |side| (row as usize, side)));
    let places = places.map(|(row, side)| table.place(row, side)).collect();
    let rows = order.iter().map(|&row| table.rows[row as usize]).collect();
    DiffTable {
        rows,
        periods,
        places,
        ..table
    }
}

/// Rows in the order in which they were met.
struct Joined {
    table: DiffTable,
    identities: Identities,
}

impl Joined {
    fn new(sides: &[Side<'_>], keys: &[SortKey], totals: Vec<u64>) -> Joined {
        let baseline_total = totals.first().copied().unwrap_or(0);
        let (rows, periods, places) = Default::default();
        let table = DiffTable {
            rows,
            periods,
            places,
            totals,
            baseline_total,
        };
        let mut joined = Joined {
            table,
            identities: Identities::new(sides, keys),
        };
        for (at, side) in sides.iter().enumerate() {
            for row in 0..side.table.map_or(0, Table::len) {
                joined.add(sides, at, row);
            }
        }
        joined
    }

    fn add(&mut self, sides: &[Side<'_>], side: usize, row: usize) {
        let Some((table, shown)) = sides[side]
            .table
            .and_then(|table| Some((table, table.row(row)?)))
        else {
            return;
        };
        let width = sides.len();
        let index = self.identities.of(side, sides[side].profile, shown);
        if index == self.table.rows.len() {
            self.table.rows.push(DiffRow { side, row });
            self.table
                .periods
                .resize(self.table.periods.len() + width, None);
            self.table
                .places
                .resize(self.table.places.len() + width, None);
        }
        let place = &mut self.table.places[index * width + side];
        let found = |row| identity::found(&sides[side], row);
        if place.is_none_or(|known| found(row) < found(known)) {
            *place = Some(row);
            let shown = &mut self.table.rows[index];
            shown.row = if shown.side == side { row } else { shown.row };
        }
        let period = table.cells(row).first().map_or(0, |cell| cell.own.period);
        let sum = &mut self.table.periods[index * width + side];
        *sum = Some(sum.unwrap_or(0).wrapping_add(period));
    }

    /// Leaves what the baseline and another side have; the baseline's shares are then of that.
    fn retain_common(&mut self) {
        let width = self.table.totals.len();
        let rows = std::mem::take(&mut self.table.rows);
        let periods = std::mem::take(&mut self.table.periods);
        let places = std::mem::take(&mut self.table.places);
        let common = |periods: &[Option<u64>]| match periods {
            [baseline, others @ ..] => baseline.is_some() && others.iter().any(Option::is_some),
            [] => false,
        };
        let cells = periods
            .chunks(width.max(1))
            .zip(places.chunks(width.max(1)));
        let kept = rows
            .into_iter()
            .zip(cells)
            .filter(|(_, (periods, _))| common(periods));
        for (row, (periods, places)) in kept {
            self.table.rows.push(row);
            self.table.periods.extend_from_slice(periods);
            self.table.places.extend_from_slice(places);
        }
        let of_baseline = self
            .table
            .periods
            .chunks(width.max(1))
            .filter_map(|periods| *periods.first()?);
        self.table.baseline_total = of_baseline.fold(0, u64::wrapping_add);
    }

    /// What the keys of each row say, as numbers in the order of the words.
    fn ranks(&self, sides: &[Side<'_>], keys: &[SortKey]) -> Vec<i64> {
        let ranks = self.identities.ranks();
        let row = |row: &DiffRow| {
            let side = &sides[row.side];
            let shown = side.table.and_then(|table| table.row(row.row));
            let key = move |&key: &SortKey| shown.map(|shown| (key, shown));
            let values = keys.iter().filter_map(key);
            values
                .map(|(key, shown)| ranks.of(row.side, side.profile, key, shown))
                .collect::<Vec<i64>>()
        };
        self.table.rows.iter().flat_map(row).collect()
    }
}
