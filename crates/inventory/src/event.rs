//! One event that can be named.

use oxperf_abi::EventType;
use std::borrow::Cow;

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventCategory {
    /// An event of a PMU.
    Pmu,
    /// An event that programs read without the kernel's counters, by perf's words for its source.
    UserSpace(&'static str),
    /// A tracepoint.
    Tracepoint,
    /// A marker in a program, found in the build-id cache.
    Sdt,
    /// A form for events that have no name.
    RawDescriptor,
    /// The form of breakpoints.
    Breakpoint,
}

impl EventCategory {
    /// perf's words for it.
    pub fn title(self) -> &'static str {
        match self {
            EventCategory::Pmu => "Kernel PMU event",
            EventCategory::UserSpace(title) => title,
            EventCategory::Tracepoint => "Tracepoint event",
            EventCategory::Sdt => "SDT event",
            EventCategory::RawDescriptor => "Raw event descriptor",
            EventCategory::Breakpoint => "Hardware breakpoint",
        }
    }
}

/// An event that can be named, or the form of such names. Texts come from the kernel and from files and are not trusted.
#[derive(Clone, PartialEq, Debug)]
pub struct CountableEvent {
    /// The PMU, as the event's table names it; `None` for forms, which belong to none.
    pub unit: Option<Cow<'static, str>>,
    /// The number of the PMU.
    pub pmu_kind: Option<EventType>,
    /// The name that lists show: `cycles`, `msr/tsc/`, `sched:sched_switch`.
    pub name: String,
    /// The same event by a longer name: `cpu/mem-loads/`.
    pub alias: Option<String>,
    /// The group that lists show it in.
    pub topic: Option<String>,
    /// Factor and unit of its counts.
    pub scale_unit: Option<(f64, String)>,
    /// Hidden unless asked for: an old name, or one that the kernel does not count here.
    pub is_deprecated: bool,
    /// The kind of the entry.
    pub category: EventCategory,
    /// A description of a line or two.
    pub brief: Option<String>,
    /// A long description.
    pub long: Option<String>,
    /// The event in full: `cpu/event=0xc0,period=2000003/`.
    pub encoding: Option<String>,
}

impl CountableEvent {
    /// Returns whether it has a topic, by which alone it is shown, and no description.
    pub fn is_undescribed(&self) -> bool {
        self.topic.is_some() && self.brief.is_none() && self.long.is_none()
    }

    /// An event of which nothing but its name is known.
    pub(crate) fn named(category: EventCategory, name: String) -> CountableEvent {
        CountableEvent {
            unit: None,
            pmu_kind: None,
            name,
            alias: None,
            topic: None,
            scale_unit: None,
            is_deprecated: false,
            category,
            brief: None,
            long: None,
            encoding: None,
        }
    }
}
