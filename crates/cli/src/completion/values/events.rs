//! Names of events of this machine.

use oxperf_abi::{HardwareId, SoftwareId};
use oxperf_pmu::{PmuSource, SystemPmus};
use oxperf_tracepoint::{SystemTracefs, Tracefs};

use crate::environment;

/// The names that fit what is typed: generic events, those of PMUs, systems of tracepoints, and behind the colon of a
/// system its tracepoints.
pub(super) fn names(typed: &str) -> Vec<String> {
    let word = typed.rsplit([',', '{']).next().unwrap_or_default();
    if let Some((system, _)) = word.split_once(':') {
        return tracepoints(system);
    }
    let hardware = HardwareId::ALL.iter().flat_map(|id| id.names());
    let software = SoftwareId::ALL.iter().flat_map(|id| id.names());
    let generic = hardware.chain(software).map(|name| (*name).to_owned());
    generic.chain(of_pmus()).chain(systems()).collect()
}

fn of_pmus() -> Vec<String> {
    let pmus = SystemPmus::below(environment::sysfs().root());
    let of_pmu = |pmu: String| {
        let events = pmus.list(&pmu, "events");
        // `cycles.scale` and `.unit` describe an event.
        let events = events.into_iter().filter(|event| !event.contains('.'));
        let names = events.map(|event| format!("{pmu}/{event}/"));
        let whole = std::iter::once(format!("{pmu}//"));
        whole.chain(names).collect::<Vec<_>>()
    };
    pmus.names()
        .unwrap_or_default()
        .into_iter()
        .flat_map(of_pmu)
        .collect()
}

fn systems() -> Vec<String> {
    let systems = SystemTracefs::find().and_then(|tracefs| tracefs.systems());
    let systems = systems.unwrap_or_default().into_iter();
    systems.map(|system| format!("{system}:")).collect()
}

fn tracepoints(system: &str) -> Vec<String> {
    let events = SystemTracefs::find().and_then(|tracefs| tracefs.events(system));
    let events = events.unwrap_or_default().into_iter();
    events.map(|event| format!("{system}:{event}")).collect()
}
