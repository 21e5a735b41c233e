//! Everything that went wrong with a recording, counted.

use std::fmt;

use oxperf_abi::FileOffset;
use oxperf_data::DamageList;
use oxperf_wire::{RecordHeader, WireError};

use crate::JitTrouble;

/// Losses, damage and oddities. Counts, never logs: every result shows them beside itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    /// Records that rings could not take, by LOST records.
    pub lost_records: u64,
    /// Number of LOST records.
    pub lost_chunks: u64,
    /// Samples that the kernel did not take, by LOST_SAMPLES records.
    pub lost_samples: u64,
    /// These for each event, in file order.
    pub lost_samples_by_event: Vec<u64>,
    /// Losses by AUX records.
    pub aux: AuxLosses,
    /// Errors of decoding an instruction trace that were reported; whoever decodes it counts them.
    pub trace_errors: u64,
    /// Records with an event id that the file does not list.
    pub unknown_ids: u64,
    /// Records whose body does not hold what their kind needs.
    pub undecodable: u64,
    /// The first of these, in the order in which they were met; at most [`Diagnostics::LISTED`].
    pub undecodable_listed: Vec<UndecodableRecord>,
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

impl Diagnostics {
    /// The number of undecodable records that are listed, not only counted.
    pub const LISTED: usize = 10;

    /// Counts a record that could not be decoded.
    pub(crate) fn note_undecodable(&mut self, record: UndecodableRecord) {
        self.undecodable += 1;
        if self.undecodable_listed.len() < Self::LISTED {
            self.undecodable_listed.push(record);
        }
    }
}

/// A record whose body does not hold what its kind needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UndecodableRecord {
    /// Offset of its header in the file.
    pub offset: FileOffset,
    /// Its header.
    pub header: RecordHeader,
    /// The fault of its body.
    pub error: WireError,
}

impl fmt::Display for UndecodableRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecordHeader { kind, size, .. } = self.header;
        let name = kind.name().unwrap_or("UNKNOWN");
        let (offset, number) = (self.offset.0, kind.0);
        write!(f, "at offset {offset:#x}: {name} ({number}) event")?;
        match self.error {
            WireError::Truncated { .. } => write!(f, " size {size} too small"),
            error => write!(f, " of {size} bytes: {error}"),
        }
    }
}

/// Losses of the data that hardware wrote beside the rings, such as an instruction trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AuxLosses {
    /// AUX records: pieces of such data.
    pub records: u64,
    /// Pieces of which there was more than room.
    pub lost: u64,
    /// Pieces with gaps, where a guest ran.
    pub gaps: u64,
    /// Pieces that others wrote into.
    pub collisions: u64,
}

impl AuxLosses {
    /// Takes the flags of an AUX record.
    pub(crate) fn count(&mut self, flags: u64) {
        let has = |flag: u64| u64::from(flags & flag != 0);
        self.records += 1;
        self.lost += has(1);
        self.gaps += has(4);
        self.collisions += has(8);
    }

    /// Pieces that are not whole.
    pub fn total(&self) -> u64 {
        self.lost + self.gaps + self.collisions
    }
}
