//! The moments of a recording that are asked for, so that the trace of others need not be decoded.

use intel_pt::{Checkpoint, Config, EmitOptions, PsbScanner, TraceChunk, Tsc};
use oxperf_abi::PerfTime;

use crate::TscClock;
use crate::feed::Feed;
use crate::queue::StartPoint;

/// The moments that are asked for, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The first.
    pub first: PerfTime,
    /// The last.
    pub last: PerfTime,
    /// Samples hold counts since the last one, even if that was before the window: then all that comes before it is
    /// decoded, too.
    pub counts: bool,
}

impl Window {
    /// All of a recording.
    pub const ALL: Window = Window {
        first: PerfTime(0),
        last: PerfTime(u64::MAX),
        counts: true,
    };
}

/// The window in the time of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bounds {
    /// Trace before it need not be decoded; `None` if all has to be.
    pub(crate) start: Option<u64>,
    /// Trace from here on need not, either; `None` if it goes on to the end.
    pub(crate) end: Option<u64>,
}

impl Bounds {
    /// The bounds of a window, in a recording with this clock; `jumps` where decoding can begin anywhere.
    pub(crate) fn new(window: Window, clock: Option<TscClock>, jumps: bool) -> Bounds {
        /// Clocks are converted to a tick or two.
        const TICKS: u64 = 4;
        let Window {
            first,
            last,
            counts,
        } = window;
        // The TSC has no value for times before it was 0.
        let tsc = |time: PerfTime| {
            let since = |clock: &TscClock| time.0.wrapping_sub(clock.time(0).0);
            let has_tsc = |clock: &TscClock| time.0 != u64::MAX && since(clock) <= u64::MAX / 2;
            clock.filter(has_tsc).map(|clock| clock.tsc(time))
        };
        let start = if jumps && !counts { tsc(first) } else { None };
        Bounds {
            start: start.map(|start| start.saturating_sub(TICKS)),
            end: tsc(last).map(|end| end.saturating_add(TICKS)),
        }
    }

    /// The limit of a queue that has reached a moment and is to be decoded till `until`. Behind the end it is the next
    /// time in the trace: code that ran before the end may come with it.
    pub(crate) fn limit(self, reached: u64, until: Option<u64>) -> Option<u64> {
        match self.end {
            Some(end) if reached >= end => earliest(Some(reached.saturating_add(1)), until),
            end => earliest(until, end),
        }
    }
}

/// The earlier of two limits; `None` is no limit.
pub(crate) fn earliest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

/// Places that a scanner passes before it surely knows what a decoder would that read all that comes before.
const SURE: usize = 4;

/// Bytes between places at which the time is looked up.
const STEP: usize = 64 << 10;

/// Looks for the place from which a queue need be decoded.
pub(crate) struct Seeker<'p> {
    pub(crate) config: &'p Config,
    pub(crate) emit: EmitOptions,
    /// The time from which on decoding matters.
    pub(crate) start: u64,
}

impl Seeker<'_> {
    /// The last place that is known of before the start.
    pub(crate) fn find<'t>(&self, feed: &Feed<'t>) -> Option<StartPoint<'t>> {
        let mut feed = feed.clone();
        let (mut last, mut before) = (None, None);
        while let Some(chunk) = feed.next_chunk() {
            if self.scanner(chunk, 0).next().is_some() {
                before = last.replace((chunk, feed.clone()));
            }
        }
        [last, before]
            .into_iter()
            .flatten()
            .find_map(|(chunk, feed)| {
                let checkpoint = self.last_place(chunk)?;
                let behind = usize::try_from(checkpoint.offset() - chunk.offset).ok()?;
                let bytes = chunk.bytes.get(behind..)?;
                Some(StartPoint {
                    checkpoint,
                    chunk: TraceChunk { bytes, ..chunk },
                    feed,
                })
            })
    }

    /// The last place in a chunk that is known of before the start.
    fn last_place(&self, chunk: TraceChunk<'_>) -> Option<Checkpoint> {
        let (mut low, mut high) = (0, chunk.bytes.len());
        while high - low > STEP {
            let middle = low + (high - low) / 2;
            match self.scanner(chunk, middle).next() {
                Some(_) => low = middle,
                None => high = middle,
            }
        }
        let near = low.saturating_sub(2 * STEP);
        self.last_from(chunk, near)
            .or_else(|| self.last_from(chunk, 0))
    }

    fn last_from(&self, chunk: TraceChunk<'_>, from: usize) -> Option<Checkpoint> {
        let begins = from == 0 && !chunk.consecutive;
        let (passed, last) = self.scanner(chunk, from).enumerate().last()?;
        (begins || passed >= SURE).then_some(last)
    }

    /// A scanner that begins at the first PSB behind a place.
    fn scanner<'t>(&self, chunk: TraceChunk<'t>, from: usize) -> PsbScanner<'t> {
        let rest = TraceChunk {
            bytes: &chunk.bytes[from..],
            offset: chunk.offset + from as u64,
            ..chunk
        };
        PsbScanner::anew(self.config, self.emit, rest, Some(Tsc(self.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_before_the_clock_bounds_nothing() {
        let bounds = |zero, first, last| {
            let window = Window {
                first: PerfTime(first),
                last: PerfTime(last),
                counts: false,
            };
            Bounds::new(window, TscClock::new(31, 894_784_853, zero), true)
        };
        let nothing = Bounds {
            start: None,
            end: None,
        };
        assert_eq!(bounds(5_000_000, 0, u64::MAX), nothing);
        let second = bounds(5_000_000, 1_005_000_000, 2_005_000_000);
        assert_eq!(second.start.unwrap() / 1000, 2_399_999);
        assert_eq!(second.end.unwrap() / 1000, 4_800_000);
        // A clock that began before what times count from.
        let early = bounds(5_000_000u64.wrapping_neg(), 995_000_000, u64::MAX);
        assert_eq!(
            early,
            Bounds {
                start: second.start,
                end: None
            }
        );
    }
}
