//! The section of `perf.data` (and record of a pipe) that carries the formats of the recorded tracepoints.
//!
//! Its layout is trace-cmd's of version 0.6: a mark, the recorded machine's byte order and word, then texts of tracefs with
//! their lengths. Reading and writing stand side by side; what one writes the other reads.

mod collect;
mod decode;
mod encode;

use crate::bytes::{ByteOrder, WordSize};

/// The first bytes of the section.
const MARK: &[u8] = b"\x17\x08\x44tracing";
/// The version that perf writes.
const VERSION: &[u8] = b"0.6";

/// The texts of tracefs that belong to a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracingData {
    /// The recorded machine's byte order.
    pub order: ByteOrder,
    /// The recorded kernel's `long`.
    pub word: WordSize,
    /// Bytes of a page there.
    pub page_size: u32,
    /// `events/header_page`.
    pub header_page: Vec<u8>,
    /// `events/header_event`.
    pub header_event: Vec<u8>,
    /// Formats of ftrace's own events.
    pub ftrace: Vec<Vec<u8>>,
    /// Formats of the recorded events, system by system.
    pub systems: Vec<SystemFormat>,
    /// `/proc/kallsyms`; newer recorders leave it out.
    pub kallsyms: Vec<u8>,
    /// `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// `saved_cmdlines`; absent before version 0.6.
    pub cmdlines: Option<Vec<u8>>,
}

/// The formats of one system's recorded events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemFormat {
    /// The system's name: `sched`.
    pub system: String,
    /// The texts of its events' `format` files.
    pub formats: Vec<Vec<u8>>,
}

impl TracingData {
    /// Each recorded event's system and format text.
    pub fn events(&self) -> impl Iterator<Item = (&str, &Vec<u8>)> {
        self.systems.iter().flat_map(|system| {
            system
                .formats
                .iter()
                .map(|text| (system.system.as_str(), text))
        })
    }
}
