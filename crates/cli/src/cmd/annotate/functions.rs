//! Which functions are shown, in the order of their cost, and what each event counted in them.

use std::collections::HashSet;

use oxperf_analysis::hist::{HistOptions, Row, SortKey, Table, histograms};
use oxperf_present::annotate::Cost;
use oxperf_profile::SampleTotals;
use oxperf_profile::{Block, EventProfile, FrameId, Profile, ProfileDso, ProfileSymbol, SymbolId};

use super::options::AnnotateOptions;

/// A function that was hit.
pub(super) struct Function<'p> {
    profile: &'p Profile,
    id: SymbolId,
    pub(super) symbol: &'p ProfileSymbol,
    pub(super) object: &'p ProfileDso,
    /// The events to show.
    events: Vec<usize>,
    /// The name of the group that they were recorded as.
    pub(super) group: Option<&'p str>,
}

/// The functions to show, for each event or group of events that counted in what was asked for: the heaviest first,
/// whatever threads ran them.
pub(super) fn functions<'p>(
    profile: &'p Profile,
    options: &AnnotateOptions,
) -> Vec<Vec<Function<'p>>> {
    let keys = vec![SortKey::Dso, SortKey::Symbol];
    let tables = histograms(
        profile,
        &HistOptions {
            keys,
            children: false,
            ..HistOptions::default()
        },
    );
    let counted = tables.iter().filter(|table| !table.is_empty());
    counted
        .map(|table| of_table(profile, table, options))
        .collect()
}

/// Leaves the functions that were asked for alone, and says whether they ran. What all events counted stays.
pub(super) fn keep_asked(profile: &mut Profile, options: &AnnotateOptions) -> bool {
    let mut events = std::mem::take(&mut profile.events);
    if options.symbol.is_some() || !options.objects.is_empty() {
        events
            .iter_mut()
            .for_each(|event| event.retain(false, |group| asks_for(options, profile, group.frame)));
    }
    profile.events = events;
    profile.events.iter().any(|event| !event.groups.is_empty())
}

/// Whether the function that holds a frame was asked for, or its object where no function was.
fn asks_for(options: &AnnotateOptions, profile: &Profile, frame: FrameId) -> bool {
    let Some(frame) = profile.frames.get(frame.index()) else {
        return false;
    };
    let symbol = frame
        .symbol
        .and_then(|symbol| profile.symbols.get(symbol.index()));
    let object = frame.dso.and_then(|dso| profile.dsos.get(dso.index()));
    let is_named = |name: &String| symbol.is_some_and(|symbol| symbol.name == *name);
    let is_among = |object: &ProfileDso| {
        options
            .objects
            .iter()
            .any(|name| [&object.long, &object.short].contains(&name))
    };
    options.symbol.as_ref().is_none_or(is_named)
        && (options.objects.is_empty() || object.is_some_and(is_among))
}

/// The functions of one event or group.
fn of_table<'p>(
    profile: &'p Profile,
    table: &Table,
    options: &AnnotateOptions,
) -> Vec<Function<'p>> {
    let mut seen = HashSet::new();
    let whole = table
        .events
        .first()
        .map_or(0, |event| counted(&profile.events[*event]).period);
    let percent = |row| {
        100.0 * table.cells(row).first().map_or(0, |cell| cell.own.period) as f64
            / whole.max(1) as f64
    };
    let heavy = (0..table.len()).filter(|row| percent(*row) >= options.min_percent);
    let functions = heavy.filter_map(|row| of_row(profile, table, table.row(row)?));
    functions
        .filter(|function| seen.insert(function.id))
        .collect()
}

fn of_row<'p>(profile: &'p Profile, table: &Table, row: &Row) -> Option<Function<'p>> {
    let id = profile.frames.get(row.frame.index())?.symbol?;
    let symbol = profile.symbols.get(id.index())?;
    let object = profile.dsos.get(symbol.dso.index())?;
    let leader = table
        .events
        .first()
        .and_then(|event| profile.events[*event].group.as_ref());
    let named = leader.filter(|group| table.grouped && !group.joined);
    let group = named.map(|group| group.name.as_deref().unwrap_or("anon group"));
    Some(Function {
        profile,
        id,
        symbol,
        object,
        events: table.events.clone(),
        group,
    })
}

impl<'p> Function<'p> {
    /// The first of the events to show.
    pub(super) fn leader(&self) -> Option<usize> {
        self.events.first().copied()
    }

    /// What its events counted in the functions that were asked for.
    pub(super) fn counted(&self) -> SampleTotals {
        let mut sum = SampleTotals::default();
        self.events
            .iter()
            .for_each(|event| sum += counted(&self.profile.events[*event]));
        sum
    }

    /// The stretches of its code of which branches tell.
    pub(super) fn blocks(&self) -> &'p [Block] {
        self.profile.blocks.of(self.id)
    }

    /// What each event counted, by virtual address.
    pub(super) fn costs(&self, virtual_address: impl Fn(u64) -> Option<u64>) -> Vec<Cost<'p>> {
        self.events
            .iter()
            .map(|event| self.cost(*event, &virtual_address))
            .collect()
    }

    fn cost(&self, event: usize, virtual_address: &impl Fn(u64) -> Option<u64>) -> Cost<'p> {
        let event = &self.profile.events[event];
        let hits = event
            .addresses
            .iter()
            .filter(|hit| symbol_of(self.profile, hit.frame) == Some(self.id));
        let mut function = SampleTotals::default();
        let mut addresses: Vec<(u64, SampleTotals)> = Vec::new();
        for hit in hits {
            function += hit.weight;
            addresses.extend(virtual_address(hit.address).map(|address| (address, hit.weight)));
        }
        addresses.sort_unstable_by_key(|(address, _)| *address);
        Cost {
            name: &event.name,
            addresses,
            function,
            event: whole(event),
        }
    }
}

/// What an event counted in the functions that were asked for.
pub(super) fn counted(event: &EventProfile) -> SampleTotals {
    let mut sum = SampleTotals::default();
    for group in &event.groups {
        sum += SampleTotals {
            period: group.period,
            samples: group.samples,
            latency: group.latency,
        };
    }
    sum
}

fn symbol_of(profile: &Profile, frame: FrameId) -> Option<SymbolId> {
    profile.frames.get(frame.index())?.symbol
}

/// All that an event counted.
fn whole(event: &EventProfile) -> SampleTotals {
    SampleTotals {
        period: event.period_total,
        samples: event.sample_count,
        latency: event.latency_total,
    }
}
