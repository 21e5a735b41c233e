//! `--time`: the stretches of a recording that count.
//!
//! ```text
//! 12.5,13         from second 12.5 to second 13, both included; either may be left out
//! 1,2 5,6         several, in order
//! 10%/2           the second tenth
//! 0%-10%,90%-100% several shares of the time between the first sample and the last
//! ```

use std::num::NonZeroU64;

use oxperf_abi::PerfTime;
use oxperf_data::Reader;
use oxperf_data::features::SampleTime;

use crate::QueryError;

const SECOND: u64 = 1_000_000_000;

/// Stretches of time, each with its first and last moment in ns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimeWindows(Vec<(u64, u64)>);

impl TimeWindows {
    /// Reads the notation for a recording.
    ///
    /// # Errors
    /// The text is no such list, or the recording does not hold the time that shares are of.
    pub fn parse(text: &str, reader: &Reader<'_>) -> Result<TimeWindows, QueryError> {
        let windows = if text.contains('%') {
            of_shares(text, sampled(reader)?)
        } else {
            of_moments(text)
        };
        windows.map(TimeWindows).ok_or(QueryError::InvalidTime)
    }

    /// Every moment.
    pub(crate) fn all() -> TimeWindows {
        TimeWindows(vec![(0, u64::MAX)])
    }

    /// The moments of these stretches that lie in another one, too; no stretch has none.
    pub(crate) fn within(self, stretch: Option<(PerfTime, PerfTime)>) -> TimeWindows {
        let Some((PerfTime(from), PerfTime(to))) = stretch else {
            return TimeWindows(Vec::new());
        };
        let common = self.0.into_iter();
        let common = common.map(|(first, last)| (first.max(from), last.min(to)));
        TimeWindows(common.filter(|(first, last)| first <= last).collect())
    }

    /// `true` if a sample counts by its time; one without counts as that of the moment 0.
    #[inline]
    pub fn take(&self, time: Option<PerfTime>) -> bool {
        let time = time.unwrap_or(PerfTime(0)).0;
        self.0
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&time))
    }

    /// The first and the last moment of each.
    pub fn stretches(&self) -> Vec<(PerfTime, PerfTime)> {
        let stretches = self.0.iter();
        stretches
            .map(|&(first, last)| (PerfTime(first), PerfTime(last)))
            .collect()
    }

    /// The first and the last moment of all.
    pub fn first_and_last(&self) -> (PerfTime, PerfTime) {
        let first = self.0.iter().map(|window| window.0).min();
        let last = self.0.iter().map(|window| window.1).max();
        (
            PerfTime(first.unwrap_or(0)),
            PerfTime(last.unwrap_or(u64::MAX)),
        )
    }
}

/// The times of the first and the last sample, as the recorder noted them.
fn sampled(reader: &Reader<'_>) -> Result<SampleTime, QueryError> {
    let noted = reader.features().get::<SampleTime>().ok().flatten();
    noted
        .filter(|times| times.first != times.last)
        .ok_or(QueryError::NoSampleTimes)
}

/// `START,STOP START,STOP ...`, in order and apart from each other.
fn of_moments(text: &str) -> Option<Vec<(u64, u64)>> {
    let windows: Vec<(u64, u64)> = match text.split_once(", ") {
        // One stretch, with a space in it.
        Some((start, stop)) if !stop.contains([',', ' ']) => {
            vec![moments(&format!("{start},{stop}"))?]
        }
        _ => text.split(' ').map(moments).collect::<Option<_>>()?,
    };
    let ordered = windows.windows(2).all(|pair| pair[0].1 < pair[1].0);
    ordered.then_some(windows)
}

/// `START,STOP`; a stop of 0 or none is the end.
fn moments(text: &str) -> Option<(u64, u64)> {
    let (start, stop) = text.split_once(',')?;
    let start = if start.is_empty() {
        0
    } else {
        nanoseconds(start)?
    };
    let stop = if stop.is_empty() {
        0
    } else {
        nanoseconds(stop)?
    };
    let stop = NonZeroU64::new(stop).map_or(u64::MAX, NonZeroU64::get);
    (start <= stop).then_some((start, stop))
}

/// `SECONDS.FRACTION` with at most nine digits behind the point.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    // As perf, whose test of `--off-cpu` counts on it: more seconds than there are begin again at 0.
    let whole = whole.parse::<u64>().ok()?.wrapping_mul(SECOND);
    whole.checked_add(fraction)
}

/// `PERCENT/N` or `FROM%-TO%`, comma separated, all of one form.
fn of_shares(text: &str, sampled: SampleTime) -> Option<Vec<(u64, u64)>> {
    let parts: Vec<&str> = text.split(',').collect();
    let read: fn(&str) -> Option<(f64, f64)> = if text.contains('-') { range } else { slice };
    let shares: Vec<(f64, f64)> = parts.into_iter().map(read).collect::<Option<_>>()?;
    Some(
        shares
            .into_iter()
            .map(|share| window_of(share, sampled))
            .collect(),
    )
}

/// `PERCENT%/N`: the N-th slice of that size; the first when N is left out.
fn slice(text: &str) -> Option<(f64, f64)> {
    let (size, number) = text.split_once('/').unwrap_or((text, "1"));
    let (size, number) = (percent(size)?, f64::from(number.parse::<u32>().ok()?));
    let share = ((number - 1.0) * size, number * size);
    (number >= 1.0 && share.1 <= 100.0).then_some(share)
}

fn range(text: &str) -> Option<(f64, f64)> {
    let (from, to) = text.split_once('-')?;
    Some((percent(from)?, percent(to)?))
}

/// A number from 0 to 100 with its sign.
fn percent(text: &str) -> Option<f64> {
    let value: f64 = text.strip_suffix('%')?.parse().ok()?;
    (0.0..=100.0).contains(&value).then_some(value)
}

/// A share ends before the next one begins; the last holds the last sample, one without length its moment.
fn window_of(share: (f64, f64), sampled: SampleTime) -> (u64, u64) {
    let (from, to) = share;
    let (first, last) = (sampled.first.0, sampled.last.0);
    let total = last.saturating_sub(first) as f64;
    let at = |percent: f64| first.saturating_add((percent / 100.0 * total).round() as u64);
    let (start, end) = (at(from), at(to));
    (
        start,
        if to >= 100.0 || start == end {
            end
        } else {
            end.saturating_sub(1)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLED: SampleTime = SampleTime {
        first: PerfTime(SECOND),
        last: PerfTime(SECOND + 10_000),
    };

    fn behind_the_second(windows: Option<Vec<(u64, u64)>>) -> Option<Vec<(u64, u64)>> {
        windows.map(|list| {
            list.into_iter()
                .map(|(a, b)| (a - SECOND, b - SECOND))
                .collect()
        })
    }

    #[test]
    fn moments_are_included_and_open_ends_allowed() {
        assert_eq!(of_moments("1.5,2"), Some(vec![(1_500_000_000, 2 * SECOND)]));
        assert_eq!(of_moments("1,"), Some(vec![(SECOND, u64::MAX)]));
        assert_eq!(
            of_moments(",1 2,"),
            Some(vec![(0, SECOND), (2 * SECOND, u64::MAX)])
        );
        assert_eq!(of_moments("0, 2"), Some(vec![(0, 2 * SECOND)]));
        assert_eq!(of_moments("0,1, 2"), None);
        let far = of_moments("18446744069414584,").unwrap();
        assert!(far[0].0 < PerfTime::OF_SUMS.0, "{far:?}");
        for wrong in [
            "",
            "1",
            "2,1",
            "1,3 3,4",
            "5,6 1,2",
            "1,2 ,4",
            "a,b",
            "-1,2",
            "1.0000000001,2",
            "1x,2",
        ] {
            assert_eq!(of_moments(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_stretch_leaves_what_lies_in_it() {
        let windows = || TimeWindows(vec![(10, 20), (30, 40)]);
        let within = |first, last| windows().within(Some((PerfTime(first), PerfTime(last)))).0;
        assert_eq!(within(0, u64::MAX), windows().0);
        assert_eq!(within(20, 30), [(20, 20), (30, 30)]);
        assert_eq!(within(21, 29), []);
        assert_eq!(windows().within(None).0, []);
        assert!(!TimeWindows(Vec::new()).take(None));
    }

    #[test]
    fn shares_end_before_the_next_begins() {
        let read = |text| behind_the_second(of_shares(text, SAMPLED));
        assert_eq!(read("10%"), Some(vec![(0, 999)]));
        assert_eq!(read("10%/2,10%/1"), Some(vec![(1000, 1999), (0, 999)]));
        assert_eq!(read("33.3%/2"), Some(vec![(3330, 6659)]));
        assert_eq!(
            read("0%-10%,90%-100%"),
            Some(vec![(0, 999), (9000, 10_000)])
        );
        assert_eq!(read("0%-0%,50%-50%"), Some(vec![(0, 0), (5000, 5000)]));
        for wrong in [
            "10%/11",
            "10%/0",
            "0%-101%",
            "10%/1,50",
            "10%/1,0%-5%",
            "0%-",
            "10%/1 10%/3",
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
