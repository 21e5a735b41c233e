//! Metrics that an option of their own asks for: levels of the top-down method, transactions, the cost of system management.

use std::path::PathBuf;

use oxperf_metric::{MetricError, MetricPlan, PlanOptions};
use oxperf_sys::Sysfs;

use super::metrics::MetricSources;
use super::problem::CONTRADICTION;
use crate::failure::Failure;

/// The metrics of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Preset {
    /// `--topdown`, with the level of `--td-level`.
    Topdown(u32),
    /// `--transaction`.
    Transactions,
    /// `--smi-cost`.
    SystemManagement,
}

/// The deepest level that is looked for.
const DEEPEST_LEVEL: u32 = 9;

impl Preset {
    /// Returns whether its metrics are shown without counts.
    pub(super) fn is_alone(self) -> bool {
        self != Preset::Transactions
    }

    /// Plans its metrics.
    ///
    /// # Errors
    /// The machine does not have them, or not at this level.
    pub(super) fn plan(self, sources: &MetricSources<'_>) -> Result<MetricPlan, Failure> {
        let refusal = |message: &str| Failure::with_code(message, CONTRADICTION);
        let options = PlanOptions {
            no_threshold: matches!(self, Preset::Topdown(_)),
            ..sources.machine_options()
        };
        let (group, missing) = match self {
            Preset::Transactions => ("transaction".to_owned(), "Missing transaction metrics"),
            Preset::SystemManagement => ("smi".to_owned(), "Missing smi metrics"),
            Preset::Topdown(level) => {
                let deepest = (1..=DEEPEST_LEVEL).rfind(|level| sources.has(&group_of(*level)));
                if let Some(deepest) = deepest.filter(|deepest| level > *deepest) {
                    return Err(refusal(&format!(
                        "Invalid top-down metrics level. The max level is {deepest}."
                    )));
                }
                let missing = "Topdown requested but the topdown metric groups aren't present.\n\
                    (See perf list the metric groups have names like TopdownL1)";
                (group_of(level), missing)
            }
        };
        let plan = sources.plan(&group, &options);
        plan.map_err(|error| match error {
            MetricError::NotFound(_) => refusal(missing),
            error => refusal(&error.to_string()),
        })
    }
}

fn group_of(level: u32) -> String {
    format!("TopdownL{level}")
}

/// The counters of a core stand still while system management runs, until this is dropped.
pub(super) struct Frozen(Option<PathBuf>);

impl Frozen {
    /// Stops them, unless they do already.
    ///
    /// # Errors
    /// This machine cannot, or this process may not.
    pub(super) fn new(sysfs: &Sysfs) -> Result<Frozen, Failure> {
        let path = sysfs.path("bus/event_source/devices/cpu/freeze_on_smi");
        let state = std::fs::read_to_string(&path);
        let state = state
            .map_err(|_| Failure::with_code("freeze_on_smi is not supported.", CONTRADICTION))?;
        if state.trim() != "0" {
            return Ok(Frozen(None));
        }
        std::fs::write(&path, "1").map_err(|error| {
            Failure::with_code(
                format!("Failed to set freeze_on_smi: {error}"),
                CONTRADICTION,
            )
        })?;
        Ok(Frozen(Some(path)))
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // There is nobody left to tell.
            let _ = std::fs::write(path, "0");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_stand_still_for_a_while() {
        let root = std::env::temp_dir().join(format!("oxperf-frozen-{}", std::process::id()));
        let folder = root.join("bus/event_source/devices/cpu");
        std::fs::create_dir_all(&folder).unwrap();
        let sysfs = Sysfs::at(&root);
        assert!(Frozen::new(&sysfs).is_err());
        let file = folder.join("freeze_on_smi");
        std::fs::write(&file, "0\n").unwrap();
        let frozen = Frozen::new(&sysfs).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1");
        drop(frozen);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "0");
        std::fs::remove_dir_all(root).unwrap();
    }
}
