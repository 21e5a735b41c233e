//! `annotate --data-type`: what each field of the types of data cost.

use oxperf_analysis::hist::{HistOptions, Row, SortKey, Table, histograms};
use oxperf_machine::Machine;
use oxperf_present::annotate::{AnnotatedData, DataCost, data_type};
use oxperf_profile::SampleTotals;
use oxperf_profile::{DataPlace, DsoId, FrameId, Profile};
use oxperf_symbols::SymbolStore;

use super::functions::counted;
use super::options::AnnotateOptions;
use super::statistics::Statistics;
use crate::data_types::{self, FoundData};
use crate::failure::Failure;
use crate::output::Output;

/// The words that stand before the names of types.
const SORTS: [&str; 3] = ["struct ", "union ", "enum "];

/// Writes the types of data, for each event or group of events the heaviest first.
pub(super) fn write(
    output: &mut Output,
    options: &AnnotateOptions,
    machine: &Machine,
    store: &SymbolStore,
    profile: &mut Profile,
) -> Result<(), Failure> {
    let mut statistics = Statistics::new(profile);
    let FoundData { places, layouts } = data_types::find(
        &options.recording.symbols,
        machine,
        store,
        profile,
        &mut |seen| statistics.add(seen),
    );
    let known = statistics.finish();
    profile.data_places = places;
    let keys = vec![SortKey::Dso, SortKey::DataType];
    let tables = histograms(
        profile,
        &HistOptions {
            keys,
            children: false,
            ..HistOptions::default()
        },
    );
    for table in tables.iter().filter(|table| !table.is_empty()) {
        known.write(output, options.statistics)?;
        for number in 0..table.len() {
            let Some(row) = table
                .row(number)
                .filter(|_| is_heavy(profile, table, number, options))
            else {
                continue;
            };
            let shown = Shown {
                profile,
                options,
                table,
                row,
            };
            let Some((dso, name)) = shown.data() else {
                continue;
            };
            let Some(layout) = layouts.get(&(dso, name.to_owned())) else {
                continue;
            };
            let Some(object) = profile.dsos.get(dso.index()) else {
                continue;
            };
            let costs = shown.costs(dso, name);
            if costs.iter().all(DataCost::is_empty) {
                continue;
            }
            let column = options.text.column;
            data_type(
                output,
                &AnnotatedData {
                    layout,
                    object: &object.long,
                    costs,
                    column,
                },
            )?;
        }
    }
    Ok(())
}

/// Whether a row has enough of the first event.
fn is_heavy(profile: &Profile, table: &Table, row: usize, options: &AnnotateOptions) -> bool {
    let whole = table
        .events
        .first()
        .map_or(0, |event| counted(&profile.events[*event]).period);
    let own = table.cells(row).first().map_or(0, |cell| cell.own.period);
    100.0 * own as f64 / whole.max(1) as f64 >= options.min_percent
}

/// A row of types that may be shown.
struct Shown<'a> {
    profile: &'a Profile,
    options: &'a AnnotateOptions,
    table: &'a Table,
    row: &'a Row,
}

impl<'a> Shown<'a> {
    /// The object and the name of the type, if it is a type that was asked for.
    fn data(&self) -> Option<(DsoId, &'a str)> {
        let place = self.profile.data_places.of(self.row.frame)?;
        place.offset?;
        let plain = SORTS.iter().find_map(|sort| place.name.strip_prefix(sort));
        let wanted = self.options.data_type.as_deref().unwrap_or("");
        let is_wanted = wanted.is_empty() || wanted == place.name || plain == Some(wanted);
        let dso = self
            .profile
            .frames
            .get(self.row.frame.index())?
            .dso
            .filter(|_| is_wanted)?;
        Some((dso, &place.name))
    }

    /// What each event counted in data of the type.
    fn costs(&self, dso: DsoId, name: &str) -> Vec<DataCost<'a>> {
        let costs = self.table.events.iter().map(|event| {
            let event = &self.profile.events[*event];
            let offsets = event.groups.iter().filter_map(|group| {
                let place = self
                    .place(group.frame, dso)
                    .filter(|place| place.name == name)?;
                let weight = SampleTotals {
                    period: group.period,
                    samples: group.samples,
                    latency: group.latency,
                };
                Some((place.offset?, weight))
            });
            DataCost::new(&event.name, offsets)
        });
        costs.collect()
    }

    /// What a frame of an object works on.
    fn place(&self, frame: FrameId, dso: DsoId) -> Option<&'a DataPlace> {
        let at = self.profile.frames.get(frame.index())?;
        self.profile
            .data_places
            .of(frame)
            .filter(|_| at.dso == Some(dso))
    }
}
