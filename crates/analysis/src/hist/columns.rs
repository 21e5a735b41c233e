//! Sort keys as numbers: what tells rows apart, ranked once a task and once a location.
//!
//! Rows are compared millions of times. Neighbouring keys that depend on the task alone, or on the location alone, make
//! one column; so most reports have two, and a row's place among all is one number of 64 bits.

use std::cmp::Ordering;

use super::key::SortKey;
use super::location::{Location, LocationId, Locations, Range};
use super::rank::ranks;
use super::task::{TaskId, Tasks};

/// The ranks of all tasks and locations, a column for each run of keys.
#[derive(Debug)]
pub(crate) struct Columns {
    list: Vec<Column>,
}

#[derive(Debug)]
enum Column {
    Tasks(Vec<u32>),
    /// As shown, where all that has no symbol is equal, and as found, by addresses.
    Locations {
        shown: Vec<u32>,
        found: Vec<u32>,
    },
}

/// The place of each row among the others.
#[derive(Debug)]
pub(crate) struct Places {
    /// By what the keys show.
    pub(crate) shown: Vec<u64>,
    /// By what the rows were found by.
    pub(crate) found: Vec<u64>,
}

impl Columns {
    pub(crate) fn new(keys: &[SortKey], tasks: &Tasks, locations: &Locations) -> Columns {
        let mut task_keys = 0;
        let runs = keys.chunk_by(|a, b| a.of_task() == b.of_task());
        let list = runs.map(|run| match run.first() {
            Some(first) if first.of_task() => {
                let nths = task_keys..task_keys + run.len();
                task_keys = nths.end;
                Column::Tasks(task_ranks(tasks, nths))
            }
            _ => Column::locations(locations, run),
        });
        Columns { list: list.collect() }
    }

    /// One of the keys alone.
    pub(crate) fn of_key(key: SortKey, keys: &[SortKey], tasks: &Tasks, locations: &Locations) -> Columns {
        let column = match key.of_task() {
            true => {
                let mut task_keys = keys.iter().filter(|key| key.of_task());
                let nth = task_keys.position(|&other| other == key);
                Column::Tasks(nth.map_or_else(Vec::new, |nth| task_ranks(tasks, nth..nth + 1)))
            }
            false => Column::locations(locations, &[key]),
        };
        Columns { list: vec![column] }
    }

    /// The places of rows that are about these tasks and locations.
    pub(crate) fn places(&self, rows: impl ExactSizeIterator<Item = (TaskId, LocationId)> + Clone) -> Places {
        let shown = |column: &Column, (task, location): (TaskId, LocationId)| match column {
            Column::Tasks(ranks) => ranks[task.0 as usize],
            Column::Locations { shown, .. } => shown[location.0 as usize],
        };
        let found = |column: &Column, (task, location): (TaskId, LocationId)| match column {
            Column::Tasks(ranks) => ranks[task.0 as usize],
            Column::Locations { found, .. } => found[location.0 as usize],
        };
        Places { shown: self.join(rows.clone(), shown), found: self.join(rows, found) }
    }

    /// Joins two columns to a number; where there are more, their ranks so far make the first of two.
    fn join<R: Copy>(
        &self,
        rows: impl ExactSizeIterator<Item = R> + Clone,
        rank: impl Fn(&Column, R) -> u32,
    ) -> Vec<u64> {
        let mut joined = vec![0u64; rows.len()];
        for (nth, column) in self.list.iter().enumerate() {
            if nth >= 2 {
                joined = ranks(joined.iter().copied()).into_iter().map(u64::from).collect();
            }
            for (joined, row) in joined.iter_mut().zip(rows.clone()) {
                *joined = *joined << 32 | u64::from(rank(column, row));
            }
        }
        joined
    }
}

impl Column {
    fn locations(locations: &Locations, run: &[SortKey]) -> Column {
        Column::Locations {
            shown: ranks(locations.all().iter().map(|location| shown_key(location, run))),
            found: found_ranks(locations.all(), run),
        }
    }
}

fn task_ranks(tasks: &Tasks, nths: std::ops::Range<usize>) -> Vec<u32> {
    let all = (0..tasks.len() as u32).map(TaskId);
    ranks(all.map(|task| nths.clone().map(|nth| tasks.nth_value(task, nth)).collect::<Vec<i64>>()))
}

/// Names by rank; none comes last.
fn shown_key(location: &Location, keys: &[SortKey]) -> [u64; LOCATION_KEYS] {
    let mut numbers = [0; LOCATION_KEYS];
    for (number, key) in numbers.iter_mut().zip(keys) {
        *number = match key {
            SortKey::Dso => location.dso_rank.into(),
            SortKey::SourceLine => location.source_ranks[0].into(),
            SortKey::SourceFile => location.source_ranks[1].into(),
            SortKey::SymbolSize => location.symbol_size,
            // Addresses of the kernel come first, as if they were signed numbers.
            SortKey::Address => location.at.unwrap_or(0) ^ 1 << 63,
            _ => location.name_rank.map_or(u64::MAX, u64::from),
        };
    }
    numbers
}

/// Keys that depend on the location; none is there twice.
const LOCATION_KEYS: usize = 8;

fn found_ranks(locations: &[Location], keys: &[SortKey]) -> Vec<u32> {
    let named = locations.iter().filter(|location| matches!(location.range, Range::Symbol(..)));
    let mut symbols: Vec<Range> = named.map(|location| location.range).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let by_dso = keys.contains(&SortKey::Dso);
    let dso_first = keys.first() == Some(&SortKey::Dso);
    ranks(locations.iter().map(|location| {
        let dso = if by_dso { u128::from(location.dso_rank) } else { 0 };
        let by_symbol =
            [SortKey::Symbol, SortKey::NoIpc, SortKey::SymbolOffset].iter().any(|key| keys.contains(key));
        let offsets = keys.contains(&SortKey::SymbolOffset);
        let range = if by_symbol { range_number(&symbols, location.range, offsets) } else { 0 };
        let place = if dso_first { dso << 96 | range } else { range << 32 | dso };
        // Offsets fall, and so do addresses without a symbol where offsets are asked for.
        (place, location.source_ranks, location.at.map(std::cmp::Reverse))
    }))
}

/// A range as a number of 66 bits: symbols by their order, then addresses, the kernel's first.
fn range_number(symbols: &[Range], range: Range, addresses_alike: bool) -> u128 {
    const SIGN: u64 = 1 << 63;
    match range {
        Range::Any => 0,
        Range::Symbol(..) => {
            1 << 64 | symbols.partition_point(|known| known.cmp(&range) == Ordering::Less) as u128
        }
        Range::Address(_) if addresses_alike => 2 << 64,
        Range::Address(address) => 2 << 64 | u128::from(address.cast_unsigned() ^ SIGN),
    }
}
