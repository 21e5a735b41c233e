//! The tables of events of this machine's CPU.

use oxperf_pmu_events::EventTables;

use crate::environment;

/// The tables: those that are built in.
pub(crate) fn of_machine() -> EventTables {
    let model = || Some(environment::cpu_model()?.as_str().to_owned());
    EventTables::of_cpu_found(model).with_builtin()
}
