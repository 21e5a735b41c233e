//! The PMUs of a system as `/sys/bus/event_source/devices` describes them.

mod format;
mod memory;
mod system;

pub(crate) use format::{BitRanges, ConfigWord};
pub use memory::MemoryPmus;
pub use system::SystemPmus;

use std::io;

/// The PMUs of a system. Names and texts come from the kernel and from drivers; they are data, not trusted.
pub trait PmuSource {
    /// Every PMU's name.
    ///
    /// # Errors
    /// They cannot be listed.
    fn names(&self) -> io::Result<Vec<String>>;

    /// The text of a file of a PMU, for example `type`, `cpumask`, `events/instructions` or `caps/max_precise`,
    /// without the newline at its end. `None` when there is none or it cannot be read.
    fn read(&self, pmu: &str, file: &str) -> Option<String>;

    /// The names in a folder of a PMU, `format` or `events`; empty without it.
    fn list(&self, pmu: &str, folder: &str) -> Vec<String>;

    /// The PMU's number.
    fn kind(&self, pmu: &str) -> Option<u32> {
        self.read(pmu, "type")?.trim().parse().ok()
    }
}
