//! Events that no kernel counts: facts about the machine and times of the measurement, on a PMU called `tool`.
//!
//! They are looked up as any other event. Whoever counts knows their values.

use crate::PmuSource;
use oxperf_abi::{EventAttr, EventType};
use std::io;

/// The PMU's name.
pub const NAME: &str = "tool";
/// The PMU's number, which no kernel gives.
pub const KIND: EventType = EventType(0xffff_fffe);

/// An event of the PMU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u64)]
pub enum ToolEvent {
    /// Nanoseconds from the start of the measurement to its end.
    DurationTime = 1,
    /// Nanoseconds of the target in user mode.
    UserTime = 2,
    /// Nanoseconds of the target in the kernel.
    SystemTime = 3,
    /// 1 if the machine has persistent memory.
    HasPmem = 4,
    /// Cores, each with one or more threads.
    NumCores = 5,
    /// CPUs that are there.
    NumCpus = 6,
    /// CPUs that are online.
    NumCpusOnline = 7,
    /// Dies.
    NumDies = 8,
    /// Packages.
    NumPackages = 9,
    /// Slots of a cycle, of 64-bit Arm.
    Slots = 10,
    /// 1 if cores run several threads.
    SmtOn = 11,
    /// Hertz of the time stamp counter, of x86.
    SystemTscFreq = 12,
    /// 1 if whole cores are measured.
    CoreWide = 13,
    /// 1 if CPUs, not tasks, are measured.
    TargetCpu = 14,
}

impl ToolEvent {
    /// All events, in the order of their numbers.
    pub const ALL: [ToolEvent; 14] = [
        ToolEvent::DurationTime,
        ToolEvent::UserTime,
        ToolEvent::SystemTime,
        ToolEvent::HasPmem,
        ToolEvent::NumCores,
        ToolEvent::NumCpus,
        ToolEvent::NumCpusOnline,
        ToolEvent::NumDies,
        ToolEvent::NumPackages,
        ToolEvent::Slots,
        ToolEvent::SmtOn,
        ToolEvent::SystemTscFreq,
        ToolEvent::CoreWide,
        ToolEvent::TargetCpu,
    ];

    /// The name in event texts.
    pub fn name(self) -> &'static str {
        match self {
            ToolEvent::DurationTime => "duration_time",
            ToolEvent::UserTime => "user_time",
            ToolEvent::SystemTime => "system_time",
            ToolEvent::HasPmem => "has_pmem",
            ToolEvent::NumCores => "num_cores",
            ToolEvent::NumCpus => "num_cpus",
            ToolEvent::NumCpusOnline => "num_cpus_online",
            ToolEvent::NumDies => "num_dies",
            ToolEvent::NumPackages => "num_packages",
            ToolEvent::Slots => "slots",
            ToolEvent::SmtOn => "smt_on",
            ToolEvent::SystemTscFreq => "system_tsc_freq",
            ToolEvent::CoreWide => "core_wide",
            ToolEvent::TargetCpu => "target_cpu",
        }
    }

    /// The event of a name, in either case, if this architecture has it.
    pub fn named(name: &str) -> Option<ToolEvent> {
        ToolEvent::here().find(|event| event.name().eq_ignore_ascii_case(name))
    }

    /// The event that an attribute stands for; `None` for an attribute of another PMU, or a number without event.
    pub fn of(attr: &EventAttr) -> Option<ToolEvent> {
        let mut all = ToolEvent::ALL.into_iter();
        all.find(|event| attr.kind == KIND && *event as u64 == attr.config)
    }

    /// The events of this architecture.
    pub fn here() -> impl Iterator<Item = ToolEvent> {
        let is_here = |event: &ToolEvent| match event {
            ToolEvent::Slots => cfg!(target_arch = "aarch64"),
            ToolEvent::SystemTscFreq => cfg!(any(target_arch = "x86_64", target_arch = "x86")),
            _ => true,
        };
        ToolEvent::ALL.into_iter().filter(is_here)
    }
}

/// The PMU as a source of names for a [`crate::Catalogue`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ToolPmu;

impl PmuSource for ToolPmu {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(vec![NAME.to_owned()])
    }

    fn read(&self, _: &str, file: &str) -> Option<String> {
        match file {
            "type" => Some(KIND.0.to_string()),
            file => {
                let event = ToolEvent::named(file.strip_prefix("events/")?)?;
                Some(format!("config={}", event as u64))
            }
        }
    }

    fn list(&self, _: &str, folder: &str) -> Vec<String> {
        let names = ToolEvent::here().map(|event| event.name().to_owned());
        names.filter(|_| folder == "events").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};

    #[test]
    fn they_are_looked_up_as_any_event() {
        let (pmus, tracepoints) = (MemoryPmus::new(), MemoryTracepoints::default());
        let catalogue = Catalogue::new(&pmus, &tracepoints);
        let found = resolve(&parse("Duration_Time,tool/num_cpus/").unwrap(), &catalogue).unwrap();
        let events: Vec<_> = found
            .iter()
            .map(|event| ToolEvent::of(&event.attr))
            .collect();
        assert_eq!(
            events,
            [Some(ToolEvent::DurationTime), Some(ToolEvent::NumCpus)]
        );
        assert!(found.iter().all(|event| !event.is_counted_by_kernel()));
    }

    #[test]
    fn numbers_are_dense() {
        let numbers = ToolEvent::ALL.iter().map(|event| *event as u64);
        assert!(numbers.eq(1..=14));
    }
}
