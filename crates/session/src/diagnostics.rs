//! Everything that went wrong with a recording, counted.

use oxperf_data::DamageList;

use crate::JitTrouble;

/// What was lost, broken or strange. Counts, never logs: every result shows them beside itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    /// Records that rings could not take, as LOST records tell.
    pub lost_records: u64,
    /// Number of LOST records.
    pub lost_chunks: u64,
    /// Samples that the kernel did not take, as LOST_SAMPLES records tell.
    pub lost_samples: u64,
    /// The same for each event, in file order.
    pub lost_samples_by_event: Vec<u64>,
    /// Records with an event id that the file does not list.
    pub unknown_ids: u64,
    /// Records whose body does not hold what their kind needs.
    pub undecodable: u64,
    /// Records of a kind that is not known here.
    pub unknown_records: u64,
    /// Records older than what had been delivered before them.
    pub out_of_order: u64,
    /// Throttle and unthrottle records.
    pub throttles: u64,
    /// All records read.
    pub records: u64,
    /// Samples delivered.
    pub samples: u64,
    /// Logs of code made at run time that cannot be read as they should be.
    pub jit_trouble: Vec<JitTrouble>,
    /// Stretches of the file that could not be read.
    pub damage: DamageList,
}
