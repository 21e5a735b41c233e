//! How far a long read has come, in one line of the terminal that is taken away at the end.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shorter reads show nothing.
const FIRST: Duration = Duration::from_millis(500);
/// Between two lines.
const PAUSE: Duration = Duration::from_millis(100);

/// A line on standard error.
pub(crate) struct Progress {
    /// Bytes in all; `None` when nobody can know.
    total: Option<u64>,
    start: Instant,
    next: Instant,
    shown: bool,
}

impl Progress {
    /// Begins, if standard error is a terminal that can take a line back. `None` also where the text of the command
    /// goes to a terminal meanwhile: the text shows how far it is.
    pub(crate) fn begin(total: Option<u64>, writes_meanwhile: bool) -> Option<Progress> {
        let disturbs = writes_meanwhile && io::stdout().is_terminal();
        let possible = io::stderr().is_terminal() && !crate::environment::is_dumb_terminal();
        let start = Instant::now();
        (possible && !disturbs).then(|| Progress {
            total,
            start,
            next: start + FIRST,
            shown: false,
        })
    }

    /// So many bytes are read.
    pub(crate) fn reach(&mut self, bytes: u64) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + PAUSE;
        self.shown = true;
        write(&format!(
            "\r{}\x1b[K",
            line(bytes, self.total, now - self.start)
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            write("\r\x1b[K");
        }
    }
}

/// Nothing can be done when that fails, and nothing is lost.
fn write(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// The amount that is read, its rate, and the time that the rest will take.
fn line(bytes: u64, total: Option<u64>, elapsed: Duration) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let rate = megabytes(bytes) / elapsed.as_secs_f64();
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{:.0} MB read, {rate:.0} MB/s", megabytes(bytes));
    };
    let left = megabytes(total.saturating_sub(bytes)) / rate;
    format!(
        "{:3.0}% of {:.0} MB read, {rate:.0} MB/s, {} left",
        100.0 * bytes.min(total) as f64 / total as f64,
        megabytes(total),
        duration(left)
    )
}

fn duration(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds if seconds < 3600 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        seconds => format!("{}:{:02} h", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_rate_and_time_left() {
        let text = line(25_000_000, Some(100_000_000), Duration::from_millis(2500));
        assert_eq!(text, " 25% of 100 MB read, 10 MB/s, 8 s left");
        assert_eq!(
            line(9_000_000, None, Duration::from_secs(3)),
            "9 MB read, 3 MB/s"
        );
        assert_eq!(
            line(2_000, Some(1_000), Duration::from_secs(1)),
            "100% of 0 MB read, 0 MB/s, 0 s left"
        );
    }

    #[test]
    fn long_waits_are_told_in_minutes_and_hours() {
        assert_eq!(
            (duration(59.2), duration(61.0)),
            ("1:00 min".into(), "1:01 min".into())
        );
        assert_eq!(duration(3_725.0), "1:02 h");
    }
}
