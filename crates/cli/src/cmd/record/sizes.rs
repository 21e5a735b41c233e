//! Sizes and times as options of files take them: a number with a letter behind.

use std::time::Duration;

/// The point at which a file ends, as written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SwitchPoint {
    /// At a signal.
    Signal,
    /// With so many bytes.
    Size(u64),
    /// At this age.
    Time(Duration),
}

/// Bytes, from a number with B, K, M or G; more than none.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let scaled = scaled(text, |unit| match unit {
        'B' => Some(1),
        'K' => Some(1 << 10),
        'M' => Some(1 << 20),
        'G' => Some(1 << 30),
        _ => None,
    });
    scaled.filter(|bytes| *bytes > 0)
}

/// A time, from a number with s, m, h or d.
pub(super) fn time(text: &str) -> Option<Duration> {
    let seconds = scaled(text, |unit| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(60 * 60),
        'd' => Some(24 * 60 * 60),
        _ => None,
    });
    seconds.map(Duration::from_secs)
}

/// The value of `--switch-output`. A time of none never comes, as in perf.
pub(super) fn switch_point(text: &str) -> Option<SwitchPoint> {
    if text == "signal" {
        return Some(SwitchPoint::Signal);
    }
    let time = || match time(text)? {
        Duration::ZERO => Some(SwitchPoint::Time(Duration::MAX)),
        time => Some(SwitchPoint::Time(time)),
    };
    bytes(text).map(SwitchPoint::Size).or_else(time)
}

fn scaled(text: &str, factor: impl Fn(char) -> Option<u64>) -> Option<u64> {
    let (end, unit) = text.char_indices().last()?;
    let number: u64 = text.get(..end)?.parse().ok()?;
    number.checked_mul(factor(unit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(bytes("3B"), Some(3));
        assert_eq!(bytes("20K"), Some(20 << 10));
        assert_eq!((bytes("1M"), bytes("2G")), (Some(1 << 20), Some(2 << 30)));
        for bad in [
            "",
            "1",
            "K",
            "0K",
            "-1K",
            "1.5K",
            "1T",
            "1k",
            "99999999999G",
            "1é",
        ] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_file_ends_by_signal_size_or_time() {
        let seconds = |seconds| Some(SwitchPoint::Time(Duration::from_secs(seconds)));
        assert_eq!(switch_point("signal"), Some(SwitchPoint::Signal));
        assert_eq!(switch_point("1M"), Some(SwitchPoint::Size(1 << 20)));
        assert_eq!(switch_point("1m"), seconds(60));
        assert_eq!(switch_point("30s"), seconds(30));
        assert_eq!(switch_point("2h"), seconds(7200));
        assert_eq!(switch_point("1d"), seconds(86400));
        assert_eq!(switch_point("0s"), Some(SwitchPoint::Time(Duration::MAX)));
        for bad in ["", "1", "foo", "1x"] {
            assert_eq!(switch_point(bad), None, "{bad}");
        }
    }
}
