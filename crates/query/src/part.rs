//! `--part I/N`: a share of a recording, for commands that each do one and together all of the work.
//!
//! A part is a stretch of time: the samples in it, and those that are made of hardware trace in it. What a part is follows from
//! the recording and the two numbers alone, so that any number of programs on any machines agree. Each walks all records
//! that say which threads and mappings there are, and names, unwinds and decodes only what is its own.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use oxperf_abi::{PerfTime, RecordType};
use oxperf_data::features::{AuxtraceIndex, SampleTime};
use oxperf_data::{DataError, Reader};
use oxperf_machine::Machine;
use oxperf_session::{NoSink, SampleEvent, Session, SidebandEvent, Sink};
use oxperf_wire::kernel::Aux;
use oxperf_wire::{Cursor, Endian};

use crate::QueryError;

/// One of several shares of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordingPart {
    /// Its number, from 1.
    index: u32,
    /// How many there are.
    count: u32,
}

impl FromStr for RecordingPart {
    type Err = QueryError;

    /// Reads `I/N`: the part number I of N, of which 1 is the first.
    fn from_str(text: &str) -> Result<RecordingPart, QueryError> {
        let part = text.split_once('/').and_then(|(index, count)| {
            let number = |text: &str| {
                let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                text.parse::<u32>().ok().filter(|_| is_number)
            };
            let (index, count) = (number(index)?, number(count)?);
            (1..=count)
                .contains(&index)
                .then_some(RecordingPart { index, count })
        });
        part.ok_or_else(|| QueryError::InvalidPart(text.to_owned()))
    }
}

impl fmt::Display for RecordingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl RecordingPart {
    /// `true` if both have work in common: parts of different numbers of shares are cut at different moments.
    pub fn overlaps(self, other: RecordingPart) -> bool {
        self.count != other.count || self.index == other.index
    }

    /// `true` for the part that stands for what is said once of a recording.
    pub fn is_first(self) -> bool {
        self.index == 1
    }

    /// The first and the last moment of the part; `None` where the recording has fewer moments than there are parts. The first
    /// part begins with all time, and the last ends with it: every moment is in one.
    ///
    /// # Errors
    /// The recording cannot be read twice, or not at all.
    pub fn stretch(self, reader: &Reader<'_>) -> Result<Option<(PerfTime, PerfTime)>, QueryError> {
        let RecordingPart { index, count } = self;
        if count == 1 {
            return Ok(Some((PerfTime(0), PerfTime(u64::MAX))));
        }
        if !reader.is_rereadable() {
            return Err(QueryError::PartOfStream);
        }
        let spans = work_spans(reader).map_err(QueryError::UnreadableRecords)?;
        let bound = |number: u32| match number {
            0 => 0,
            _ if number == count => u64::MAX,
            _ => moment_of(&spans, number, count),
        };
        let (first, behind) = (bound(index - 1), bound(index));
        let last = if index == count {
            u64::MAX
        } else {
            behind.wrapping_sub(1)
        };
        Ok((first < behind).then_some((PerfTime(first), PerfTime(last))))
    }
}

/// Work that is spread evenly over a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WorkSpan {
    first: u64,
    last: u64,
    /// Bytes.
    amount: u64,
}

/// The work that a recording is: its trace where it has some, else its samples.
fn work_spans(reader: &Reader<'_>) -> Result<Vec<WorkSpan>, DataError> {
    let noted = reader.features().get::<SampleTime>().ok().flatten();
    let trace = reader.features().get::<AuxtraceIndex>().ok().flatten();
    let noted = noted.filter(|times| times.first < times.last && trace.is_none());
    if let Some(SampleTime { first, last }) = noted {
        return Ok(vec![WorkSpan {
            first: first.0,
            last: last.0,
            amount: 1,
        }]);
    }
    let mut times = Times {
        endian: reader.endian(),
        first: u64::MAX,
        last: 0,
        pieces: Vec::new(),
    };
    // A trace in one piece lasts from the moment that it starts to the end of its threads.
    const KINDS: &[RecordType] = &[
        RecordType::SAMPLE,
        RecordType::AUX,
        RecordType::ITRACE_START,
        RecordType::EXIT,
    ];
    let session = Session::new(reader).in_file_order().prefix_only();
    session.only(KINDS).run(&mut times)?;
    Ok(times.spans())
}

/// The moment before which `number` of `count` equal shares of the work lie.
fn moment_of(spans: &[WorkSpan], number: u32, count: u32) -> u64 {
    let before = |moment: u64| -> u128 { spans.iter().map(|span| span.before(moment)).sum() };
    let wanted = before(u64::MAX) * u128::from(number) / u128::from(count);
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl WorkSpan {
    /// The work before a moment, in units of which the span has the 2^32-fold of its amount.
    fn before(&self, moment: u64) -> u128 {
        let whole = u128::from(self.amount) << 32;
        let length = u128::from(self.last.saturating_sub(self.first)) + 1;
        let done = u128::from(moment.saturating_sub(self.first)).min(length);
        // Below 2^96 and 2^65: divided first, a span of any length does not overflow.
        match whole.checked_mul(done) {
            Some(product) => product / length,
            None => whole / length * done,
        }
    }
}

/// The times of a recording's samples, and of the pieces of its trace.
struct Times {
    endian: Endian,
    first: u64,
    last: u64,
    /// CPU, time and size of each piece.
    pieces: Vec<(u32, u64, u64)>,
}

impl Times {
    fn note(&mut self, time: PerfTime) {
        self.first = self.first.min(time.0);
        self.last = self.last.max(time.0);
    }

    /// Each piece of trace is of the time since the last one of its CPU.
    fn spans(mut self) -> Vec<WorkSpan> {
        let whole = WorkSpan {
            first: self.first,
            last: self.last,
            amount: 1,
        };
        if self.pieces.is_empty() {
            return vec![whole];
        }
        self.pieces.sort_unstable();
        let mut last_of = (u32::MAX, 0);
        let spans = self.pieces.iter().map(|&(cpu, time, amount)| {
            let begun = if last_of.0 == cpu {
                last_of.1
            } else {
                self.first
            };
            last_of = (cpu, time);
            WorkSpan {
                first: begun,
                last: time,
                amount,
            }
        });
        spans.collect()
    }
}

impl Sink for Times {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if let Some(time) = event.sample.time {
            self.note(time);
        }
        ControlFlow::Continue(())
    }

    fn sideband(&mut self, _: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let Some(time) = event.id.time else {
            return ControlFlow::Continue(());
        };
        self.note(time);
        let aux = Aux::decode(&mut Cursor::new(event.record.body, self.endian));
        if let (RecordType::AUX, Ok(aux)) = (event.record.header.kind, aux) {
            let cpu = event.id.cpu.map_or(u32::MAX, |cpu| cpu.0);
            self.pieces.push((cpu, time.0, aux.size));
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        let part = |text: &str| {
            text.parse::<RecordingPart>()
                .ok()
                .map(|part| (part.index, part.count))
        };
        assert_eq!(part("1/1"), Some((1, 1)));
        assert_eq!(part("3/7"), Some((3, 7)));
        for wrong in [
            "",
            "1",
            "0/3",
            "4/3",
            "1/0",
            "-1/3",
            "+1/3",
            "1/3/5",
            "a/b",
            "1/5000000000",
        ] {
            assert_eq!(part(wrong), None, "{wrong:?}");
        }
    }

    fn bounds(spans: &[WorkSpan], count: u32) -> Vec<u64> {
        (1..count)
            .map(|number| moment_of(spans, number, count))
            .collect()
    }

    #[test]
    fn parts_have_equal_shares_of_the_work() {
        let span = |first, last, amount| WorkSpan {
            first,
            last,
            amount,
        };
        assert_eq!(bounds(&[span(100, 199, 1)], 4), [125, 150, 175]);
        // Two CPUs at a time; then one has thrice as much in half of the time.
        let spans = [span(0, 99, 10), span(0, 99, 10), span(100, 149, 60)];
        assert_eq!(bounds(&spans, 4), [100, 117, 134]);
        // Work without any length.
        assert_eq!(bounds(&[span(5, 5, 1)], 3), [6, 6]);
        assert_eq!(bounds(&[], 3), [0, 0]);
        let endless = [span(0, u64::MAX, u64::MAX), span(7, 3, u64::MAX)];
        assert!(bounds(&endless, 3).is_sorted());
    }

    #[test]
    fn pieces_of_trace_are_of_the_time_since_the_last_one() {
        let times = Times {
            endian: Endian::Little,
            first: 10,
            last: 90,
            pieces: vec![(1, 50, 7), (0, 90, 2), (0, 40, 1)],
        };
        let spans = times.spans();
        let spans: Vec<_> = spans
            .iter()
            .map(|span| (span.first, span.last, span.amount))
            .collect();
        assert_eq!(spans, [(10, 40, 1), (40, 90, 2), (10, 50, 7)]);
    }
}
