//! Where the values of such counters come from.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

use oxperf_abi::{Cpu, EventAttr, Pid, Tid};
use oxperf_metric::MachineConstants;
use oxperf_pmu::tool::ToolEvent;
use oxperf_pmu::{DrmPmus, HwmonPmus};
use oxperf_sys::Sysfs;
use oxperf_sys::cpus::CpuRanges;

use super::super::latency::LatencySampler;
use super::RunMoment;
use crate::event::EventRequest;
use crate::host_files::{HostFiles, MetricScope};
use crate::options::{Target, TargetOptions};
use crate::plan::{OpenSite, TargetTask};
use crate::synthesize::ProcDir;

/// Nanoseconds of a tick in which the kernel shows times.
const TICK: u64 = 10_000_000;

/// The mode of the processor whose time is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::count) enum ProcessorMode {
    User,
    System,
}

/// Whose time is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::count) enum TimeOwner {
    Cpu(Cpu),
    Thread(Tid),
    /// The workload with the children that it waited for.
    Workload(Tid),
}

/// The use of a graphics device.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::count) struct GraphicsUse {
    attr: EventAttr,
    /// The process; all when none is given.
    process: Option<Pid>,
    /// The value grows, and is no state of the device.
    grows: bool,
}

/// The source of one counter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::count) enum OwnSource {
    /// A fact that does not change while it is counted; `None` where nothing tells it.
    Fact(Option<u64>),
    /// The time for which it is counted.
    Duration,
    /// Processor time.
    Time(ProcessorMode, TimeOwner),
    /// A sensor.
    Sensor(EventAttr),
    /// What a graphics device says.
    Graphics(GraphicsUse),
    /// The latency of retirement of the event of an index.
    Latency {
        event: usize,
        /// What was published for it; unknown latencies are 0.
        published: Option<u64>,
    },
    /// Nothing: the event is read at another of its sites.
    Elsewhere,
}

impl OwnSource {
    /// Returns whether its value is a state and not a growing number: a reading adds it to those before.
    pub(super) fn is_level(&self) -> bool {
        match self {
            OwnSource::Fact(_)
            | OwnSource::Sensor(_)
            | OwnSource::Latency { .. }
            | OwnSource::Elsewhere => true,
            OwnSource::Graphics(usage) => !usage.grows,
            OwnSource::Duration | OwnSource::Time(..) => false,
        }
    }
}

/// The files that values are read from.
#[derive(Debug)]
pub(in crate::count) struct OwnSources {
    proc: PathBuf,
    sensors: HwmonPmus,
    graphics: DrmPmus,
    host: HostFiles,
    scope: MetricScope,
    constants: OnceCell<MachineConstants>,
    /// The samples that tell latencies, where some are taken.
    pub(in crate::count) sampler: Option<LatencySampler>,
}

impl OwnSources {
    pub(in crate::count) fn new(target: &TargetOptions, sysfs: &Sysfs) -> OwnSources {
        OwnSources::in_scope(scope(target, sysfs), sysfs)
    }

    /// The same, with samples that tell latencies.
    pub(in crate::count) fn with_sampler(self, sampler: Option<LatencySampler>) -> OwnSources {
        OwnSources { sampler, ..self }
    }

    /// Those for who counts nothing.
    pub(super) fn of_machine(sysfs: &Sysfs) -> OwnSources {
        let scope = MetricScope {
            core_pmu: pmu_with_slots(sysfs),
            ..MetricScope::default()
        };
        OwnSources::in_scope(scope, sysfs)
    }

    fn in_scope(scope: MetricScope, sysfs: &Sysfs) -> OwnSources {
        let proc = PathBuf::from("/proc");
        OwnSources {
            sensors: HwmonPmus::below(sysfs.root()),
            graphics: DrmPmus::of_machine(),
            proc,
            host: HostFiles::this(sysfs),
            scope,
            constants: OnceCell::new(),
            sampler: None,
        }
    }

    /// The source of an event at a site; `None` for an event that the kernel counts, or that nobody knows.
    pub(in crate::count) fn of(
        &self,
        request: &EventRequest,
        site: OpenSite,
        workload: Option<Tid>,
    ) -> Option<OwnSource> {
        let time = |mode| {
            let owner = match (site.cpu, site.task) {
                (Some(cpu), _) => TimeOwner::Cpu(cpu),
                (None, TargetTask::Thread(tid)) => TimeOwner::Thread(tid),
                (None, _) => TimeOwner::Workload(workload?),
            };
            Some(OwnSource::Time(mode, owner))
        };
        match ToolEvent::of(&request.attr) {
            Some(ToolEvent::DurationTime) => Some(OwnSource::Duration),
            Some(ToolEvent::UserTime) => time(ProcessorMode::User),
            Some(ToolEvent::SystemTime) => time(ProcessorMode::System),
            Some(event) => Some(OwnSource::Fact(self.fact(event))),
            None if HwmonPmus::has(&request.attr) => Some(OwnSource::Sensor(request.attr)),
            None if DrmPmus::has(&request.attr) => Some(OwnSource::Graphics(GraphicsUse {
                attr: request.attr,
                process: self.process(site, workload),
                grows: self.graphics.grows(&request.attr),
            })),
            None => None,
        }
    }

    /// The process of a site.
    fn process(&self, site: OpenSite, workload: Option<Tid>) -> Option<Pid> {
        let tid = match site.task {
            TargetTask::Anyone => return None,
            TargetTask::Workload => workload?,
            TargetTask::Thread(tid) => tid,
        };
        let status = ProcDir::new(&self.proc).status(tid);
        Some(status.map_or(Pid(tid.0), |status| status.process))
    }

    pub(super) fn fact(&self, event: ToolEvent) -> Option<u64> {
        let constants = self
            .constants
            .get_or_init(|| self.host.metric_constants(&self.scope));
        match event {
            ToolEvent::HasPmem => Some(constants.has_pmem.into()),
            ToolEvent::NumCores => constants.num_cores.map(u64::from),
            ToolEvent::NumCpus => constants.num_cpus.map(u64::from),
            ToolEvent::NumCpusOnline => constants.num_cpus_online.map(u64::from),
            ToolEvent::NumDies => constants.num_dies.map(u64::from),
            ToolEvent::NumPackages => constants.num_packages.map(u64::from),
            ToolEvent::Slots => constants.slots.map(u64::from),
            ToolEvent::SmtOn => Some(constants.smt_on.into()),
            // An unknown frequency is 0, as in perf.
            ToolEvent::SystemTscFreq => Some(constants.system_tsc_freq.unwrap_or(0)),
            ToolEvent::CoreWide => Some(constants.core_wide.into()),
            ToolEvent::TargetCpu => Some(constants.target_cpu.into()),
            ToolEvent::DurationTime | ToolEvent::UserTime | ToolEvent::SystemTime => None,
        }
    }

    /// The value now; of a duration nothing but that it goes on.
    pub(super) fn value(&self, source: &OwnSource, moment: RunMoment) -> Option<u64> {
        match source {
            OwnSource::Fact(value) => *value,
            OwnSource::Duration => Some(0),
            OwnSource::Time(mode, owner) => self.time(*mode, *owner, moment),
            OwnSource::Sensor(attr) => {
                let value = self.sensors.value(attr).ok()??;
                // A temperature may be negative; sums of counts wrap around.
                Some(value.cast_unsigned())
            }
            OwnSource::Latency { event, published } => {
                let sampled = self.sampler.as_ref().and_then(|own| own.latency(*event));
                Some(sampled.or(*published).unwrap_or(0))
            }
            OwnSource::Elsewhere => None,
            OwnSource::Graphics(usage) => self.graphics.value(&usage.attr, usage.process),
        }
    }

    fn time(&self, mode: ProcessorMode, owner: TimeOwner, moment: RunMoment) -> Option<u64> {
        let file = |name: String| std::fs::read_to_string(self.proc.join(name)).ok();
        match owner {
            TimeOwner::Cpu(cpu) => time_of_cpu(&file("stat".to_owned())?, cpu, mode),
            TimeOwner::Thread(tid) => {
                time_of_task(&file(format!("{tid}/task/{tid}/stat"))?, mode, false)
            }
            TimeOwner::Workload(tid) => match (moment.usage, mode) {
                (Some(usage), ProcessorMode::User) => Some(nanoseconds(usage.user)),
                (Some(usage), ProcessorMode::System) => Some(nanoseconds(usage.system)),
                (None, _) => time_of_task(&file(format!("{tid}/stat"))?, mode, true),
            },
        }
    }
}

fn scope(target: &TargetOptions, sysfs: &Sysfs) -> MetricScope {
    let cpus = match &target.target {
        Target::Cpus(cpus) => {
            let numbers: Vec<String> = cpus.iter().map(|cpu| cpu.0.to_string()).collect();
            CpuRanges::parse(&numbers.join(",")).ok()
        }
        _ => None,
    };
    MetricScope {
        system_wide: target.target == Target::AllCpus,
        cpus,
        core_pmu: pmu_with_slots(sysfs),
    }
}

/// The first PMU that tells how many slots a cycle has, as those of Arm's cores do.
fn pmu_with_slots(sysfs: &Sysfs) -> Option<String> {
    let devices = sysfs.root().join("bus/event_source/devices");
    let entries = std::fs::read_dir(&devices).ok()?.flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join("caps/slots").exists())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names.into_iter().next()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The time of a CPU, from `/proc/stat`.
fn time_of_cpu(text: &str, cpu: Cpu, mode: ProcessorMode) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let mut lines = text.lines().map(str::split_ascii_whitespace);
    let fields = lines.find_map(|mut fields| (fields.next()? == name).then_some(fields))?;
    // user, nice, system
    let ticks: Vec<u64> = fields
        .take(3)
        .filter_map(|field| field.parse().ok())
        .collect();
    match (mode, &*ticks) {
        (ProcessorMode::User, [user, nice, _]) => Some(user.saturating_add(*nice)),
        (ProcessorMode::System, [_, _, system]) => Some(*system),
        _ => None,
    }
    .map(|ticks| ticks.saturating_mul(TICK))
}

/// The time of a task, with that of the children that it waited for where they belong to it, from `/proc/PID/stat`.
fn time_of_task(text: &str, mode: ProcessorMode, with_children: bool) -> Option<u64> {
    // The name in parentheses may hold anything. The fields behind it begin with the third; the time is the 14th.
    let (_, fields) = text.rsplit_once(')')?;
    let times = fields.split_ascii_whitespace().skip(11).take(4);
    let times: Vec<u64> = times.filter_map(|field| field.parse().ok()).collect();
    let [user, system, of_children, system_of_children] = *times.first_chunk::<4>()?;
    let (own, children) = match mode {
        ProcessorMode::User => (user, of_children),
        ProcessorMode::System => (system, system_of_children),
    };
    let ticks = own.saturating_add(if with_children { children } else { 0 });
    Some(ticks.saturating_mul(TICK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_cpu() {
        let text = "cpu  9 9 9 9\ncpu0 1 2 3 4\ncpu1 10 20 30 40 50\ncpu12 7\n";
        let time = |cpu, mode| time_of_cpu(text, Cpu(cpu), mode);
        assert_eq!(time(1, ProcessorMode::User), Some(30 * TICK));
        assert_eq!(time(1, ProcessorMode::System), Some(30 * TICK));
        assert_eq!(time(12, ProcessorMode::User), None);
        assert_eq!(time(2, ProcessorMode::User), None);
    }

    #[test]
    fn times_of_a_task_whatever_its_name() {
        let text = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 70 80 20 0 1 0 9";
        let time = |mode, children| time_of_task(text, mode, children);
        assert_eq!(time(ProcessorMode::User, false), Some(5 * TICK));
        assert_eq!(time(ProcessorMode::User, true), Some(75 * TICK));
        assert_eq!(time(ProcessorMode::System, true), Some(86 * TICK));
        assert_eq!(time_of_task("7 (a) S 1", ProcessorMode::User, true), None);
    }
}
