//! The metrics of this machine, and the plans of those that are wanted.

use oxperf_capture::Target;
use oxperf_capture::host_files::{HostFiles, MetricScope};
use oxperf_metric::{MetricCatalogue, MetricEnvironment, MetricError, MetricPlan, PlanOptions};
use oxperf_pmu::metrics::MetricSystem;
use oxperf_pmu::{Catalogue, CpuModel};
use oxperf_pmu_events::EventTables;
use oxperf_sys::cpus::CpuRanges;

use super::options::StatCommand;
use super::presets::Preset;

/// The wishes about metrics.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MetricWishes {
    /// Names of metrics and groups, as `-M` takes them.
    pub(super) list: Option<String>,
    /// How many more groups of default metrics.
    pub(super) details: u8,
    /// Events of metrics are not grouped.
    pub(super) no_group: bool,
    /// Metrics share no events.
    pub(super) no_merge: bool,
    /// Nothing is counted for thresholds alone.
    pub(super) no_threshold: bool,
    /// Metrics are shown alone, without counts.
    pub(super) alone: bool,
    /// Metrics of an option of their own.
    pub(super) preset: Option<Preset>,
    /// Of several kinds of cores this one alone, by the name of its PMU or what stands behind `cpu_` in it.
    pub(super) core_type: Option<String>,
    /// This PMU alone.
    pub(super) pmu: Option<String>,
    /// Counts of several kinds of cores are added up.
    pub(super) merges_cores: bool,
}

/// The metrics of this machine, for what is counted.
pub(super) struct MetricSources<'a> {
    system: MetricSystem<'a>,
    metrics: MetricCatalogue,
}

impl<'a> MetricSources<'a> {
    /// Those of the events of `catalogue` and of `tables`.
    pub(super) fn new(
        command: &StatCommand,
        catalogue: &'a Catalogue<'a>,
        tables: &EventTables,
        model: Option<&'a CpuModel>,
    ) -> MetricSources<'a> {
        let scope = MetricScope {
            system_wide: command.options.target.target == Target::AllCpus,
            cpus: command
                .cpu_list
                .as_deref()
                .and_then(|list| CpuRanges::parse(list).ok()),
            core_pmu: catalogue.core_names().first().map(|&name| name.to_owned()),
        };
        let files = HostFiles::this(&command.options.sysfs);
        let system = MetricSystem {
            catalogue,
            constants: files.metric_constants(&scope),
            model,
        };
        let metrics = of_core_type(system.metrics(Some(tables)), &command.metrics);
        MetricSources { system, metrics }
    }

    /// What expressions ask of the machine.
    pub(super) fn environment(&self) -> &dyn MetricEnvironment {
        &self.system
    }

    /// The facts about the machine that decide whether events are grouped.
    pub(super) fn machine_options(&self) -> PlanOptions {
        PlanOptions {
            watchdog: oxperf_capture::system::has_nmi_watchdog(),
            smt_on: self.system.constants.smt_on,
            ..PlanOptions::default()
        }
    }

    /// The way in which metrics that the user names are planned.
    pub(super) fn options(&self, wishes: &MetricWishes) -> PlanOptions {
        PlanOptions {
            no_group: wishes.no_group,
            no_merge: wishes.no_merge,
            no_threshold: wishes.no_threshold,
            ..self.machine_options()
        }
    }

    /// Returns whether a name or a group has metrics.
    pub(super) fn has(&self, name: &str) -> bool {
        self.metrics.named(name).next().is_some()
    }

    /// Returns whether the machine has several PMUs of cores.
    pub(super) fn has_several_cores(&self) -> bool {
        self.system.catalogue.core_names().len() > 1
    }

    /// Plans a list as `-M` takes it.
    ///
    /// # Errors
    /// A name that nothing has; a metric that does not work out.
    pub(super) fn plan(
        &self,
        list: &str,
        options: &PlanOptions,
    ) -> Result<MetricPlan, MetricError> {
        MetricPlan::new(list, &self.metrics, &self.system, options)
    }
}

/// The metrics without those of other kinds of cores than the one that is wanted.
fn of_core_type(metrics: MetricCatalogue, wishes: &MetricWishes) -> MetricCatalogue {
    let Some(kind) = &wishes.core_type else {
        return metrics;
    };
    let is_meant = |pmu: &str| pmu == kind || pmu.strip_prefix("cpu_") == Some(kind);
    let kept = metrics
        .iter()
        .filter(|metric| metric.pmu.as_deref().is_none_or(is_meant));
    MetricCatalogue::new([kept.cloned().collect::<Vec<_>>()])
}
