//! The events of tables that the machine's PMUs have.

use super::{Gathered, listed};
use crate::instances::table_means;
use crate::inventory::Sources;
use crate::{CountableEvent, EventCategory, Instances};
use oxperf_pmu::PmuDescription;
use oxperf_pmu_events::{EventTables, TableEvent};
use std::collections::HashMap;

/// The table's name for the PMU of the cores, whatever it is called.
const CORE: &str = "cpu";

/// Adds the events of the tables. One that a PMU's folder names, too, is the table's.
pub(super) fn gather(
    tables: &EventTables,
    pmus: &[PmuDescription],
    sources: &Sources<'_>,
    gathered: &mut Vec<Gathered>,
) {
    let pmus = listed(pmus, sources.instances);
    let mut owners: HashMap<&str, Option<&PmuDescription>> = HashMap::new();
    let mut named = HashMap::new();
    for (index, known) in gathered.iter().enumerate() {
        named.insert((known.pmu.clone(), known.plain_name.clone()), index);
    }
    // A table of other systems than CPUs says by which identifiers it is meant; PMUs are not asked for theirs here.
    for event in tables.events().filter(|event| event.compat.is_none()) {
        let find = || pmus.iter().copied().find(|pmu| is_of(event.pmu, pmu));
        let Some(pmu) = *owners.entry(event.pmu).or_insert_with(find) else {
            continue;
        };
        let new = of_table(pmu, &event, sources.instances);
        match named.get(&(pmu.name.clone(), event.name.to_owned())) {
            Some(index) => gathered[*index] = new,
            None => gathered.push(new),
        }
    }
}

/// Returns whether a table's name of a PMU means this one.
fn is_of(table: &str, pmu: &PmuDescription) -> bool {
    if table == CORE {
        pmu.is_core
    } else {
        table_means(table, &pmu.name)
    }
}

fn of_table(pmu: &PmuDescription, event: &TableEvent<'_>, instances: Instances) -> Gathered {
    let unit = if event.pmu == CORE {
        &pmu.name
    } else {
        event.pmu
    };
    let mut shown = CountableEvent {
        unit: Some(unit.to_owned()),
        pmu_kind: Some(pmu.kind),
        topic: Some(event.topic.to_owned()),
        scale_unit: event
            .scale_unit
            .map(|both| (both.scale(), both.unit().to_owned())),
        is_deprecated: event.deprecated,
        brief: event.brief.map(str::to_owned),
        long: event.long.map(str::to_owned),
        encoding: Some(format!("{unit}/{}/", event.terms)),
        ..CountableEvent::named(EventCategory::Pmu, event.name.to_owned())
    };
    // As in perf's list, an event with nothing but a long description is shown with its PMU.
    let is_described = event.brief.is_some() || event.long.is_none();
    if !is_described {
        let full = format!("{}/{}/", full_unit(pmu, instances), event.name);
        match pmu.is_core {
            true => shown.alias = Some(full),
            false => shown.name = full,
        }
    }
    Gathered {
        event: shown,
        plain_name: event.name.to_owned(),
        is_described,
        is_core: pmu.is_core,
        pmu: pmu.name.clone(),
    }
}

fn full_unit(pmu: &PmuDescription, instances: Instances) -> &str {
    match pmu.is_core {
        true => &pmu.name,
        false => instances.shown_name(&pmu.name),
    }
}
