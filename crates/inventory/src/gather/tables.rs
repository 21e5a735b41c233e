//! The events of tables that the machine's PMUs have.

use super::sysfs::shown_pmu;
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
    let mut owners: HashMap<&str, Vec<&PmuDescription>> = HashMap::new();
    let mut named = HashMap::new();
    for (index, known) in gathered.iter().enumerate() {
        named.insert((known.pmu.to_string(), known.plain_name.clone()), index);
    }
    // A table of other systems than CPUs says by which identifiers it is meant; PMUs are not asked for theirs here.
    for event in tables.events().filter(|event| event.compat.is_none()) {
        let find = || {
            pmus.iter()
                .copied()
                .filter(|pmu| is_of(event.pmu, pmu))
                .collect()
        };
        let owners = owners.entry(event.pmu).or_insert_with(find);
        // The name of an event with a description does not tell its PMUs apart.
        let count = if is_described(&event) {
            1
        } else {
            owners.len()
        };
        for pmu in owners.iter().take(count) {
            let new = of_table(pmu, &event, sources.instances);
            match named.get(&(pmu.name.clone(), event.name.to_owned())) {
                Some(index) => gathered[*index] = new,
                None => gathered.push(new),
            }
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
        unit: Some(unit.to_owned().into()),
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
    let is_described = is_described(event);
    if !is_described {
        let full = format!("{}/{}/", shown_pmu(pmu, instances), event.name);
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
        pmu: pmu.name.clone().into(),
    }
}

/// Returns whether lists show an event by its name alone, with its topic. As in perf's list, an event without a short
/// description is shown with its PMU; of built-in tables, which have none, it is known which were published so.
fn is_described(event: &TableEvent<'_>) -> bool {
    const UNDESCRIBED_PMUS: [&str; 2] = ["amd_df", "amd_umc"];
    const UNDESCRIBED: &str = "ls_inef_sw_pref.all";
    match (event.brief, event.long) {
        (Some(_), _) => true,
        (None, Some(_)) => false,
        (None, None) => !UNDESCRIBED_PMUS.contains(&event.pmu) && event.name != UNDESCRIBED,
    }
}
