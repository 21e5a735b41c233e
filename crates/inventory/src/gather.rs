//! All events of PMUs, each kind in a file of its own.

mod forms;
mod legacy;
mod order;
mod standing;
mod sysfs;
mod tables;
mod user_space;

pub(crate) use forms::forms;
pub(crate) use order::in_order;

use crate::instances::without_instance;
use crate::inventory::Sources;
use crate::{CountableEvent, Instances};
use oxperf_abi::EventType;
use oxperf_pmu::PmuDescription;
use std::borrow::Cow;

/// The kernel's answer whether it counts a generic event here.
pub trait SupportProbe {
    /// Tries to open the event.
    fn is_supported(&self, kind: EventType, config: u64) -> bool;
}

/// An event with what orders it among the others.
pub(crate) struct Gathered {
    /// The event.
    pub(crate) event: CountableEvent,
    /// The name that its PMU or table has for it.
    pub(crate) plain_name: String,
    /// It is shown by that name alone, with its topic.
    pub(crate) is_described: bool,
    /// It belongs to a PMU of the cores.
    pub(crate) is_core: bool,
    /// The PMU's own name.
    pub(crate) pmu: Cow<'static, str>,
}

/// All events of PMUs but the tracepoints.
pub(crate) fn events_of_pmus(sources: &Sources<'_>, pmus: &[PmuDescription]) -> Vec<Gathered> {
    let mut gathered = Vec::new();
    let cores = cores(pmus);
    for pmu in listed(pmus, sources.instances) {
        sysfs::gather(pmu, sources.instances, &mut gathered);
    }
    if let Some(tables) = sources.tables {
        tables::gather(tables, pmus, sources, &mut gathered);
    }
    for pmu in &cores {
        legacy::gather(pmu, cores.len() > 1, sources, &mut gathered);
    }
    standing::gather(&mut gathered);
    user_space::gather(sources, &mut gathered);
    gathered
}

/// The PMUs of the cores. Raw and generic events of the CPU can be named on a machine, too, that lists no such PMU.
pub(crate) fn cores(pmus: &[PmuDescription]) -> Vec<PmuDescription> {
    let cores: Vec<_> = pmus.iter().filter(|pmu| pmu.is_core).cloned().collect();
    if !cores.is_empty() {
        return cores;
    }
    vec![PmuDescription {
        name: "cpu".to_owned(),
        kind: EventType::RAW,
        is_core: true,
        formats: Vec::new(),
        events: Vec::new(),
    }]
}

/// The PMUs of which events are listed.
pub(crate) fn listed(pmus: &[PmuDescription], instances: Instances) -> Vec<&PmuDescription> {
    let mut listed: Vec<&PmuDescription> = Vec::new();
    for pmu in pmus {
        let is_sibling = |other: &&PmuDescription| {
            !pmu.is_core && without_instance(&other.name) == without_instance(&pmu.name)
        };
        if instances == Instances::All || !listed.iter().any(is_sibling) {
            listed.push(pmu);
        }
    }
    listed
}
