//! Which functions are shown, in the order of their cost, and what each event counted in them.

use std::collections::HashSet;

use oxperf_analysis::hist::{HistOptions, Row, Table, Weight, histograms};
use oxperf_analysis::profile::{Block, Dso, EventGroup, Profile, Symbol, SymbolId};
use oxperf_present::annotate::Cost;

use super::arguments::Options;

/// A function that was hit.
pub(super) struct Function<'p> {
    profile: &'p Profile,
    id: SymbolId,
    pub(super) symbol: &'p Symbol,
    pub(super) object: &'p Dso,
    /// The events to show.
    events: Vec<usize>,
    /// The name of the group that they were recorded as.
    pub(super) group: Option<&'p str>,
}

/// Makes one group of all events; `false` if the first was recorded in one already.
pub(super) fn join_events(profile: &mut Profile) -> bool {
    let first = profile.events.first().and_then(|event| event.group.clone());
    let joined = first.clone().unwrap_or(EventGroup { leader: 0, name: None });
    profile.events.iter_mut().for_each(|event| event.group = Some(joined.clone()));
    first.is_none()
}

/// The functions to show: for each event or group of events the heaviest first.
pub(super) fn functions<'p>(profile: &'p Profile, options: &Options) -> Vec<Function<'p>> {
    let tables = histograms(profile, &HistOptions { children: false, ..HistOptions::default() });
    tables.iter().flat_map(|table| of_table(profile, table, options)).collect()
}

fn of_table<'p>(profile: &'p Profile, table: &Table, options: &Options) -> Vec<Function<'p>> {
    let mut seen = HashSet::new();
    let heavy = (0..table.len()).filter(|row| percent(profile, table, *row) >= options.min_percent);
    let functions = heavy.filter_map(|row| of_row(profile, table, table.row(row)?));
    functions.filter(|function| is_wanted(function, options) && seen.insert(function.id)).collect()
}

/// The share of a row in the table's first event.
fn percent(profile: &Profile, table: &Table, row: usize) -> f64 {
    let whole = table.events.first().map_or(0, |event| profile.events[*event].period_total);
    let part = table.cells(row).first().map_or(0, |cell| cell.own.period);
    100.0 * part as f64 / whole.max(1) as f64
}

fn of_row<'p>(profile: &'p Profile, table: &Table, row: &Row) -> Option<Function<'p>> {
    let id = profile.frames.get(row.frame.index())?.symbol?;
    let symbol = profile.symbols.get(id.index())?;
    let object = profile.dsos.get(symbol.dso.index())?;
    let leader = table.events.first().and_then(|event| profile.events[*event].group.as_ref());
    let group = leader.filter(|_| table.grouped).map(|group| group.name.as_deref().unwrap_or("anon group"));
    Some(Function { profile, id, symbol, object, events: table.events.clone(), group })
}

fn is_wanted(function: &Function<'_>, options: &Options) -> bool {
    let Dso { long, short } = function.object;
    let name = options.symbol.as_ref().is_none_or(|name| *name == function.symbol.name);
    let object =
        options.objects.is_empty() || options.objects.iter().any(|name| name == long || name == short);
    name && object
}

impl<'p> Function<'p> {
    /// The first of the events to show.
    pub(super) fn leader(&self) -> Option<usize> {
        self.events.first().copied()
    }

    /// The stretches of its code of which branches tell.
    pub(super) fn blocks(&self) -> &'p [Block] {
        self.profile.blocks.of(self.id)
    }

    /// What each event counted, by virtual address.
    pub(super) fn costs(&self, virtual_address: impl Fn(u64) -> Option<u64>) -> Vec<Cost<'p>> {
        self.events.iter().map(|event| self.cost(*event, &virtual_address)).collect()
    }

    fn cost(&self, event: usize, virtual_address: &impl Fn(u64) -> Option<u64>) -> Cost<'p> {
        let event = &self.profile.events[event];
        let mine = |frame: oxperf_analysis::profile::FrameId| {
            self.profile.frames.get(frame.index()).is_some_and(|frame| frame.symbol == Some(self.id))
        };
        let hits = event.addresses.iter().filter(|hit| mine(hit.frame));
        let mut function = Weight::default();
        let mut addresses: Vec<(u64, Weight)> = Vec::new();
        for hit in hits {
            function += hit.weight;
            addresses.extend(virtual_address(hit.address).map(|address| (address, hit.weight)));
        }
        addresses.sort_unstable_by_key(|(address, _)| *address);
        let whole =
            Weight { period: event.period_total, samples: event.sample_count, latency: event.latency_total };
        Cost { name: &event.name, addresses, function, event: whole }
    }
}
