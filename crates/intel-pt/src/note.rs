//! The steps of a decoder, for a log of its work.

use crate::item::Tsc;
use crate::packet::{Packet, text::perf};

/// A step of a decoder, see `Decoder::keep_notes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// It looks for a PSB.
    SeeksPsb,
    /// It found an address and goes on there.
    Finds {
        /// The address.
        ip: u64,
    },
    /// It read a packet.
    Reads(Read),
    /// A packet had this time.
    Time(Tsc),
    /// TMA tied the crystal clock to the time-stamp counter.
    Ties {
        /// The time at which the last MTC packet would have been written.
        time: Tsc,
        /// Its payload.
        mtc: u8,
        /// Ticks of the crystal clock since then.
        rest: u64,
    },
    /// It measured what a cycle is worth.
    Measures(Measured),
}

/// A packet as it stands in the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// Its first byte in the trace.
    pub offset: u64,
    /// Its content; `None` for a byte that begins no packet.
    pub packet: Option<Packet>,
    pub(crate) bytes: [u8; Read::MOST],
    pub(crate) length: u8,
}

impl Read {
    /// Bytes of the longest packet.
    pub(crate) const MOST: usize = 16;

    /// Its bytes, and those of the padding that perf takes for a part of it.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }

    /// Appends its line in perf's log.
    pub fn write_line(&self, out: &mut Vec<u8>) {
        perf::write_log_line(self.offset, self.bytes(), self.packet, out);
    }
}

/// The measured length of a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Ticks of the time-stamp counter per cycle.
    pub ticks: f64,
    /// The length by the last CBR packet.
    pub nominal: Option<f64>,
    /// True if it is taken.
    pub believed: bool,
    /// The start of the packet up to which was measured.
    pub end: u64,
}
