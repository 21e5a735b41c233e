//! The kernel's own description of its tracepoints.

mod memory;
mod system;

pub use memory::MemoryTracefs;
pub use system::SystemTracefs;

use crate::error::TracepointError;

/// The kernel's tracepoints as tracefs shows them.
pub trait Tracefs {
    /// The systems that have events, sorted by name.
    ///
    /// # Errors
    /// The directory cannot be read.
    fn systems(&self) -> Result<Vec<String>, TracepointError>;

    /// The events of a system, sorted by name.
    ///
    /// # Errors
    /// There is no such system, or its directory cannot be read.
    fn events(&self, system: &str) -> Result<Vec<String>, TracepointError>;

    /// The systems with descriptions of events, sorted by name.
    ///
    /// # Errors
    /// The directory cannot be read.
    fn described_systems(&self) -> Result<Vec<String>, TracepointError>;

    /// The events of a system that have a description, sorted by name: also those without a number, which nobody can open.
    ///
    /// # Errors
    /// As [`Tracefs::events`].
    fn described_events(&self, system: &str) -> Result<Vec<String>, TracepointError>;

    /// The number of an event, which an attr's `config` holds.
    ///
    /// # Errors
    /// There is no such event, or its files cannot be read.
    fn id(&self, system: &str, event: &str) -> Result<u64, TracepointError>;

    /// The text of an event's `format` file.
    ///
    /// # Errors
    /// There is no such event, or its files cannot be read.
    fn format(&self, system: &str, event: &str) -> Result<Vec<u8>, TracepointError>;

    /// The texts of the `format` files of events of one system, as [`Tracefs::format`] gives each.
    fn formats(&self, system: &str, events: &[&str]) -> Vec<Result<Vec<u8>, TracepointError>> {
        let format = |event: &&str| self.format(system, event);
        events.iter().map(format).collect()
    }

    /// The text of `events/header_page`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn header_page(&self) -> Result<Vec<u8>, TracepointError>;

    /// The text of `events/header_event`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn header_event(&self) -> Result<Vec<u8>, TracepointError>;

    /// The text of `printk_formats`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn printk_formats(&self) -> Result<Vec<u8>, TracepointError>;
}
