//! Sort keys as numbers: what tells rows apart, ranked once a task and once a location.
//!
//! Rows are compared millions of times. Neighbouring keys that depend on the task alone, or on the location alone, make
//! one column; so most reports have two, and a row's place among all is one number of 64 bits.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::key::SortKey;
use super::location::{LocationId, Locations, Range};
use super::rank::{Joined, Numbered, number, ranks};
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

/// The rank of each row among the others.
#[derive(Debug)]
pub(crate) struct KeyRanks {
    /// By the keys as shown.
    pub(crate) shown: Vec<u64>,
    /// By the keys as found.
    pub(crate) found: Vec<u64>,
}

impl Columns {
    pub(crate) fn new(keys: &[SortKey], tasks: &Tasks, locations: &Locations<'_>) -> Columns {
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
        Columns {
            list: list.collect(),
        }
    }

    /// One of the keys alone.
    pub(crate) fn of_key(
        key: SortKey,
        keys: &[SortKey],
        tasks: &Tasks,
        locations: &Locations<'_>,
    ) -> Columns {
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

    /// The ranks of rows that are about these tasks and locations.
    pub(crate) fn ranks(
        &self,
        rows: impl ExactSizeIterator<Item = (TaskId, LocationId)> + Clone + Send,
    ) -> KeyRanks {
        let shown = |column: &Column, (task, location): (TaskId, LocationId)| match column {
            Column::Tasks(ranks) => ranks[task.0 as usize],
            Column::Locations { shown, .. } => shown[location.index()],
        };
        let found = |column: &Column, (task, location): (TaskId, LocationId)| match column {
            Column::Tasks(ranks) => ranks[task.0 as usize],
            Column::Locations { found, .. } => found[location.index()],
        };
        let again = rows.clone();
        let (shown, found) = rayon::join(|| self.join(rows, shown), || self.join(again, found));
        KeyRanks { shown, found }
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
                joined = ranks(joined.iter().copied())
                    .into_iter()
                    .map(u64::from)
                    .collect();
            }
            for (joined, row) in joined.iter_mut().zip(rows.clone()) {
                *joined = *joined << 32 | u64::from(rank(column, row));
            }
        }
        joined
    }
}

impl Column {
    fn locations(locations: &Locations<'_>, run: &[SortKey]) -> Column {
        let (shown, found) = rayon::join(
            || shown_ranks(locations, run),
            || found_ranks(locations, run),
        );
        Column::Locations { shown, found }
    }
}

fn task_ranks(tasks: &Tasks, nths: std::ops::Range<usize>) -> Vec<u32> {
    let all = (0..tasks.len() as u32).map(TaskId);
    ranks(all.map(|task| {
        nths.clone()
            .map(|nth| tasks.nth_value(task, nth))
            .collect::<Vec<i64>>()
    }))
}

/// Names by rank; none comes last.
fn shown_ranks(locations: &Locations<'_>, keys: &[SortKey]) -> Vec<u32> {
    let (told, all) = (locations.describing(), locations.all());
    let [dsos, names, texts] = told.counts();
    let each = || all.iter().copied();
    let joined = keys
        .iter()
        .fold(Joined::alike(all.len()), |joined, key| match key {
            SortKey::Dso => joined.then(each().map(|at| told.dso_rank(at)), dsos),
            SortKey::SourceLine => joined.then(each().map(|at| told.source_rank(at, 0)), texts),
            SortKey::SourceFile => joined.then(each().map(|at| told.source_rank(at, 1)), texts),
            SortKey::DataType | SortKey::DataTypeOffset | SortKey::DataTypeLine => {
                joined.then_by(each().map(|at| told.data_rank(at, Some(*key))))
            }
            SortKey::SymbolSize => joined.then_by(each().map(|at| told.symbol_size(at))),
            SortKey::DsoSize => joined.then_by(each().map(|at| told.map_size(at))),
            // Addresses of the kernel come first, as if they were signed numbers.
            SortKey::Address => {
                joined.then_by(addresses(locations).map(|at| at.unwrap_or(0).cast_signed()))
            }
            // Where two symbols are one name, or names are not shown, this tells which comes first.
            SortKey::NoIpc | SortKey::Ipc => {
                joined.then(range_ranks(locations, false).into_iter(), all.len())
            }
            _ => joined.then(each().map(|at| told.name_rank(at)), names),
        });
    joined.into_ranks()
}

fn addresses<'l>(locations: &'l Locations<'_>) -> impl Iterator<Item = Option<u64>> + use<'l> {
    locations
        .all()
        .iter()
        .map(|&location| locations.describing().at(location))
}

fn found_ranks(locations: &Locations<'_>, keys: &[SortKey]) -> Vec<u32> {
    let (told, all) = (locations.describing(), locations.all());
    let [dsos, _, texts] = told.counts();
    let asks = |wanted: &[SortKey]| wanted.iter().any(|key| keys.contains(key));
    let by_dso = |joined: Joined| match asks(&[SortKey::Dso]) {
        true => joined.then(all.iter().map(|&location| told.dso_rank(location)), dsos),
        false => joined,
    };
    let by_range = |joined: Joined| match asks(&[
        SortKey::Symbol,
        SortKey::NoIpc,
        SortKey::Ipc,
        SortKey::SymbolOffset,
    ]) {
        true => joined.then(
            range_ranks(locations, asks(&[SortKey::SymbolOffset])).into_iter(),
            all.len(),
        ),
        false => joined,
    };
    let alike = Joined::alike(all.len());
    let mut joined = match keys.first() {
        Some(SortKey::Dso) => by_range(by_dso(alike)),
        _ => by_dso(by_range(alike)),
    };
    for (nth, key) in [SortKey::SourceLine, SortKey::SourceFile]
        .into_iter()
        .enumerate()
    {
        if asks(&[key]) {
            joined = joined.then(
                all.iter().map(|&location| told.source_rank(location, nth)),
                texts,
            );
        }
    }
    if told.asks_for_data() {
        joined = joined.then_by(all.iter().map(|&location| told.data_rank(location, None)));
    }
    if told.asks_for_addresses() {
        // Offsets fall, and so do addresses without a symbol where offsets are asked for: the kernel's come last, as signed
        // numbers.
        let signed = |at: Option<u64>| Reverse(at.map(u64::cast_signed));
        joined = joined.then_by(addresses(locations).map(signed));
    }
    joined.into_ranks()
}

/// Ranks by range: symbols by their order, then addresses, the kernel's first.
fn range_ranks(locations: &Locations<'_>, addresses_alike: bool) -> Vec<u32> {
    let (told, all) = (locations.describing(), locations.all());
    let (mut symbols, mut addresses) = (Vec::new(), Vec::new());
    for (&location, index) in all.iter().zip(0u32..) {
        match told.range(location) {
            Range::Address(_) if addresses_alike => addresses.push(Numbered::new(0, index)),
            Range::Address(address) => addresses.push(Numbered::signed(address, index)),
            range => symbols.push((range, index)),
        }
    }
    rayon::join(
        || symbols.par_sort_unstable(),
        || addresses.par_sort_unstable(),
    );
    let mut ranks = vec![0; all.len()];
    let of_symbols = number(&mut ranks, symbols.iter().copied(), 0);
    number(
        &mut ranks,
        addresses
            .iter()
            .map(|address| (address.number(), address.item())),
        of_symbols,
    );
    ranks
}
