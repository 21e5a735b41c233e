//! The events that the kernel names in the folders of PMUs.

use super::Gathered;
use crate::{CountableEvent, EventCategory, Instances};
use oxperf_pmu::{PmuDescription, PmuEvent};

/// PMUs of hardware trace, which are an event by themselves: `intel_pt//`.
const SELECTABLE: [&str; 4] = ["intel_pt", "intel_bts", "cs_etm", "arm_spe_0"];

/// Adds the events of a PMU.
pub(super) fn gather(pmu: &PmuDescription, instances: Instances, gathered: &mut Vec<Gathered>) {
    let events = pmu.events.iter().map(|event| named(pmu, event, instances));
    gathered.extend(events);
    if SELECTABLE.contains(&&*pmu.name) {
        gathered.push(selectable(pmu));
    }
}

/// An event of the PMU.
fn named(pmu: &PmuDescription, event: &PmuEvent, instances: Instances) -> Gathered {
    let full = full_name(pmu, event, instances);
    let encoding = Some(format!("{}/{}/", shown_pmu(pmu, instances), event.terms));
    let (name, alias) = match pmu.is_core {
        true => (event.name.clone(), Some(full)),
        false => (full, None),
    };
    Gathered {
        event: CountableEvent {
            unit: Some(pmu.name.clone().into()),
            pmu_kind: Some(pmu.kind),
            alias,
            encoding,
            ..CountableEvent::named(EventCategory::Pmu, name)
        },
        plain_name: event.name.clone(),
        is_described: false,
        is_core: pmu.is_core,
        pmu: pmu.name.clone().into(),
    }
}

/// The name of a PMU that its events are shown with.
pub(super) fn shown_pmu(pmu: &PmuDescription, instances: Instances) -> &str {
    match pmu.is_core {
        true => &pmu.name,
        false => instances.shown_name(&pmu.name),
    }
}

/// `PMU/EVENT/`, with the terms that a user has to give a value.
fn full_name(pmu: &PmuDescription, event: &PmuEvent, instances: Instances) -> String {
    let shown = shown_pmu(pmu, instances);
    let asked = event.terms.split(',').filter(|term| term.ends_with("=?"));
    let asked: String = asked.map(|term| format!(",{term}")).collect();
    format!("{shown}/{}{asked}/", event.name)
}

fn selectable(pmu: &PmuDescription) -> Gathered {
    let name = format!("{}//", pmu.name);
    Gathered {
        plain_name: name.clone(),
        event: CountableEvent {
            unit: Some(pmu.name.clone().into()),
            pmu_kind: Some(pmu.kind),
            ..CountableEvent::named(EventCategory::Pmu, name)
        },
        is_described: false,
        is_core: pmu.is_core,
        pmu: pmu.name.clone().into(),
    }
}
