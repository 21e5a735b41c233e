//! The PMUs of a system as `/sys/bus/event_source/devices` describes them.

mod format;
mod memory;
mod system;

pub use format::{BitRanges, ConfigWord};
pub use memory::MemoryPmus;
pub use system::SystemPmus;

use oxperf_abi::EventType;
use std::io;

/// The numbers of PMUs that no kernel has and that this program reads itself, as perf numbers them.
const OWN_KINDS: std::ops::RangeInclusive<u32> = 0xfffe_0000..=0xffff_fffe;

/// Returns whether a number can be that of a PMU of the kernel.
pub fn is_kernel_kind(kind: EventType) -> bool {
    !OWN_KINDS.contains(&kind.0)
}

/// The names in a folder of events for an event with unit and scale.
pub(crate) fn with_descriptions(event: String) -> [String; 3] {
    let beside = |suffix: &str| format!("{event}{suffix}");
    let (unit, scale) = (beside(".unit"), beside(".scale"));
    [event, unit, scale]
}

/// The PMUs of a system. Names and texts come from the kernel and from drivers; they are data, not trusted.
pub trait PmuSource {
    /// Every PMU's name.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&self) -> io::Result<Vec<String>>;

    /// The first line of a file of a PMU, for example `type`, `cpumask`, `events/instructions` or `caps/max_precise`. `None` when there is none or it cannot be read.
    fn read(&self, pmu: &str, file: &str) -> Option<String>;

    /// The names in a folder of a PMU, `format` or `events`, those of files beside an event (`energy.unit`) among them; empty
    /// without it.
    fn list(&self, pmu: &str, folder: &str) -> Vec<String>;

    /// One more than the highest number of a CPU that is there; `None` where that is not known.
    fn cpu_limit(&self) -> Option<u32> {
        None
    }

    /// The PMU's number.
    fn kind(&self, pmu: &str) -> Option<u32> {
        self.read(pmu, "type")?.trim().parse().ok()
    }
}
