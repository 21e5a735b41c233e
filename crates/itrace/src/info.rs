//! AUXTRACE_INFO of Intel PT: the settings of the recording that its decoder has to know.
//!
//! The words grew over the years; a file may end after the 9th, the 15th or the 16th, or go on.

use oxperf_wire::Words;
use oxperf_wire::user::AuxtraceInfo;
use thiserror::Error;

use crate::TscClock;

/// A kind of trace, as AUXTRACE_INFO numbers it.
pub const INTEL_PT: u32 = 1;

/// The way that context switches were recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SwitchRecords {
    /// Not at all.
    #[default]
    None,
    /// By the tracepoint `sched:sched_switch`.
    Tracepoint,
    /// By SWITCH records of the traced threads.
    OfThreads,
    /// By SWITCH_CPU_WIDE records.
    OfCpus,
}

/// The notes of the recorder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PtInfo {
    /// Number of the PMU `intel_pt`: the type of its event.
    pub pmu_type: u32,
    /// From TSC to ns and back; `None` when the kernel has none.
    pub clock: Option<TscClock>,
    /// The bit of the event's config that turns TSC packets on.
    pub tsc_bit: u64,
    /// The bit that turns return compression off.
    pub noretcomp_bit: u64,
    /// The way that context switches were recorded.
    pub switches: SwitchRecords,
    /// The trace came as snapshots.
    pub snapshots: bool,
    /// There was a buffer for each CPU rather than each thread.
    pub per_cpu: bool,
    /// The bit that turns MTC packets on.
    pub mtc_bit: u64,
    /// The bits of the MTC period.
    pub mtc_period_bits: u64,
    /// TSC ticks for each CTC tick as a fraction, if known.
    pub tsc_ctc_ratio: Option<(u32, u32)>,
    /// The bit that turns CYC packets on.
    pub cyc_bit: u64,
    /// The ratio of the CPU's frequency without turbo to its bus, if known.
    pub max_non_turbo_ratio: Option<u8>,
    /// The address filter, as written by the recorder.
    pub filter: String,
    /// The CPU can trace events.
    pub event_trace: bool,
}

/// An AUXTRACE_INFO that cannot be followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum InfoError {
    /// Another kind of trace.
    #[error("trace of kind {0} is not decoded here: only Intel PT (1) is")]
    Kind(u32),
    /// Too short.
    #[error(
        "AUXTRACE_INFO has {found} words, Intel PT needs {expected} at least: was the file cut?"
    )]
    Short {
        /// Words that are there.
        found: usize,
        /// Words that every version has.
        expected: usize,
    },
    /// The filter goes beyond the record.
    #[error("AUXTRACE_INFO has {found} words behind its filter's length, which says {expected}")]
    Filter {
        /// Words that are there.
        found: usize,
        /// Words that the filter takes.
        expected: u64,
    },
}

/// Words of the first version.
const FIRST_VERSION: usize = 9;

impl PtInfo {
    /// Reads the words.
    ///
    /// # Errors
    /// The trace is of another kind, or a word that every version has is missing.
    pub fn new(record: &AuxtraceInfo<'_>) -> Result<PtInfo, InfoError> {
        if record.kind != INTEL_PT {
            return Err(InfoError::Kind(record.kind));
        }
        let (words, found) = (record.words, record.words.len());
        if found < FIRST_VERSION {
            return Err(InfoError::Short {
                found,
                expected: FIRST_VERSION,
            });
        }
        // Versions that lack a word behave as if it were 0.
        let word = |index| words.get(index).unwrap_or(0);
        let (filter, event_trace) = filter_and_rest(words)?;
        Ok(PtInfo {
            pmu_type: word(0) as u32,
            clock: (word(4) != 0)
                .then(|| TscClock::new(word(1), word(2), word(3)))
                .flatten(),
            tsc_bit: word(5),
            noretcomp_bit: word(6),
            switches: switches(word(7)),
            snapshots: word(8) != 0,
            per_cpu: word(9) != 0,
            mtc_bit: word(10),
            mtc_period_bits: word(11),
            tsc_ctc_ratio: ratio(word(12), word(13)),
            cyc_bit: word(14),
            max_non_turbo_ratio: Some(word(15) as u8).filter(|ratio| *ratio != 0),
            filter,
            event_trace,
        })
    }
}

fn switches(word: u64) -> SwitchRecords {
    match word {
        1 => SwitchRecords::Tracepoint,
        2 => SwitchRecords::OfThreads,
        3 => SwitchRecords::OfCpus,
        _ => SwitchRecords::None,
    }
}

fn ratio(numerator: u64, denominator: u64) -> Option<(u32, u32)> {
    let ratio = (
        u32::try_from(numerator).ok()?,
        u32::try_from(denominator).ok()?,
    );
    (ratio.0 != 0 && ratio.1 != 0).then_some(ratio)
}

/// The filter's text, and true when the word behind it is set.
fn filter_and_rest(words: Words<'_>) -> Result<(String, bool), InfoError> {
    const LENGTH: usize = 16;
    let Some(length) = words.get(LENGTH).filter(|length| *length != 0) else {
        return Ok((
            String::new(),
            words.get(LENGTH + 1).is_some_and(|word| word != 0),
        ));
    };
    let expected = length / 8 + 1;
    let found = words.len() - LENGTH - 1;
    if expected > found as u64 {
        return Err(InfoError::Filter { found, expected });
    }
    let behind = LENGTH + 1 + expected as usize;
    // The text was written as bytes: their order does not depend on the recorder's.
    let bytes = (LENGTH + 1..behind).filter_map(|index| words.get(index));
    let bytes: Vec<u8> = bytes
        .flat_map(|word| words.endian().u64(word.to_ne_bytes()).to_ne_bytes())
        .collect();
    let text = bytes
        .iter()
        .copied()
        .take_while(|byte| *byte != 0)
        .take(length as usize)
        .collect::<Vec<u8>>();
    let event_trace = words.get(behind).is_some_and(|word| word != 0);
    Ok((String::from_utf8_lossy(&text).into_owned(), event_trace))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_wire::Endian;

    fn info(words: &[u64], endian: Endian) -> Result<PtInfo, InfoError> {
        let bytes: Vec<u8> = match endian {
            Endian::Little => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Endian::Big => words.iter().flat_map(|word| word.to_be_bytes()).collect(),
        };
        PtInfo::new(&AuxtraceInfo {
            kind: INTEL_PT,
            words: Words::new(&bytes, endian),
        })
    }

    const WORDS: [u64; 18] = [
        8,
        31,
        894_784_853,
        123,
        1,
        0x400,
        0x800,
        3,
        0,
        1,
        0x200,
        0x3c000,
        200,
        2,
        2,
        24,
        0,
        1,
    ];

    #[test]
    fn every_version_is_read() {
        let all = info(&WORDS, Endian::Little).unwrap();
        assert_eq!(
            (all.pmu_type, all.switches, all.per_cpu),
            (8, SwitchRecords::OfCpus, true)
        );
        assert_eq!(
            (all.tsc_ctc_ratio, all.max_non_turbo_ratio),
            (Some((200, 2)), Some(24))
        );
        assert!(all.event_trace && all.clock.is_some());
        for length in 9..18 {
            let cut = info(&WORDS[..length], Endian::Big).unwrap();
            assert_eq!(cut.max_non_turbo_ratio.is_some(), length > 15);
            assert_eq!((cut.noretcomp_bit, cut.per_cpu), (0x800, length > 9));
        }
        assert_eq!(
            info(&WORDS[..8], Endian::Little),
            Err(InfoError::Short {
                found: 8,
                expected: 9
            })
        );
    }

    #[test]
    fn filters_are_bytes_in_both_orders() {
        let mut words = WORDS.to_vec();
        words[16] = 9;
        words.truncate(17);
        let (first, second) = (*b"filter m", *b"n\0\0\0\0\0\0\0");
        let little = [u64::from_le_bytes(first), u64::from_le_bytes(second), 1];
        let big = [u64::from_be_bytes(first), u64::from_be_bytes(second), 1];
        for (endian, tail) in [(Endian::Little, little), (Endian::Big, big)] {
            let read = info(&[&words[..], &tail].concat(), endian).unwrap();
            assert_eq!(
                (read.filter.as_str(), read.event_trace),
                ("filter mn", true)
            );
        }
        assert_eq!(
            info(&words, Endian::Little),
            Err(InfoError::Filter {
                found: 0,
                expected: 2
            })
        );
    }

    #[test]
    fn without_a_usable_clock_there_is_none() {
        let mut words = WORDS;
        words[2] = 0;
        assert_eq!(info(&words, Endian::Little).unwrap().clock, None);
    }
}
