//! The events that programs read without the kernel's counters: sensors, figures of graphics drivers.

use super::Gathered;
use crate::instances::without_instance;
use crate::inventory::Sources;
use crate::{CountableEvent, EventCategory, Instances};
use oxperf_abi::EventType;
use oxperf_pmu::UserSpaceEvent;
use std::collections::HashMap;

/// Adds them.
pub(super) fn gather(sources: &Sources<'_>, gathered: &mut Vec<Gathered>) {
    for source in sources.user_space {
        let mut events = source.listed_events();
        if sources.instances == Instances::First {
            keep_first_instances(&mut events);
        }
        gathered.extend(events.into_iter().map(named));
    }
}

/// Leaves the first PMU of each name, by its number, as lists show it.
fn keep_first_instances(events: &mut Vec<UserSpaceEvent>) {
    let mut first: HashMap<String, EventType> = HashMap::new();
    for event in &*events {
        let name = without_instance(&event.pmu).to_owned();
        let kind = first.entry(name).or_insert(event.kind);
        kind.0 = kind.0.min(event.kind.0);
    }
    events.retain(|event| first[without_instance(&event.pmu)] == event.kind);
}

fn named(event: UserSpaceEvent) -> Gathered {
    Gathered {
        plain_name: event.name.clone(),
        is_described: true,
        is_core: false,
        pmu: event.pmu.clone().into(),
        event: CountableEvent {
            pmu_kind: Some(event.kind),
            alias: event.alias,
            topic: Some(event.topic.to_owned()),
            scale_unit: event.scale_unit,
            brief: Some(event.brief),
            encoding: Some(format!("{}/{}/", event.pmu, event.terms)),
            unit: Some(event.pmu.into()),
            ..CountableEvent::named(EventCategory::UserSpace(event.category), event.name)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pmu_of_each_name_is_left() {
        let event = |pmu: &str, kind, name: &str| UserSpaceEvent {
            pmu: pmu.to_owned(),
            kind: EventType(kind),
            category: "Hwmon event",
            topic: "hwmon",
            name: name.to_owned(),
            alias: None,
            scale_unit: None,
            terms: String::new(),
            brief: String::new(),
        };
        let mut events = vec![
            event("hwmon_coretemp", 8, "temp9"),
            event("hwmon_coretemp", 7, "temp1"),
            event("hwmon_coretemp", 7, "temp2"),
            event("hwmon_nvme", 9, "temp1"),
        ];
        keep_first_instances(&mut events);
        let left: Vec<_> = events.iter().map(|event| &*event.name).collect();
        assert_eq!(left, ["temp1", "temp2", "temp1"]);
    }
}
