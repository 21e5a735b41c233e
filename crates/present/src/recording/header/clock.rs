//! Lines about the clock and the times of the samples.

use oxperf_abi::PerfTime;
use oxperf_data::features::{ClockData, ClockResolution, SampleTime};

use super::{Lines, Page};

const SECOND: u64 = 1_000_000_000;

impl Page<'_> {
    pub(super) fn sample_time(&mut self) -> Lines {
        let SampleTime { first, last } = self.get()?;
        self.line(format_args!(
            "time of first sample : {}",
            microseconds(first)
        ));
        self.line(format_args!("time of last sample : {}", microseconds(last)));
        let milliseconds = last.0.saturating_sub(first.0) as f64 / 1e6;
        self.line(format_args!("sample duration : {milliseconds:10.3} ms"));
        Ok(())
    }

    pub(super) fn clock_resolution(&mut self) -> Lines {
        let ClockResolution { nanoseconds } = self.get()?;
        // What perf calls a frequency is the resolution in thousandths of a nanosecond.
        self.line(format_args!(
            "clockid frequency: {} MHz",
            u128::from(nanoseconds) * 1000
        ));
        Ok(())
    }

    pub(super) fn clock_data(&mut self) -> Lines {
        let ClockData {
            clock,
            wall_nanoseconds: wall,
            clock_nanoseconds,
        } = self.get()?;
        let name = clock_name(clock);
        self.line(format_args!("clockid: {name} ({clock})"));
        let (seconds, microseconds) = (wall / SECOND, wall % SECOND / 1000);
        let date = self.local(seconds as i64).date_time();
        let (clock_seconds, clock_rest) = (clock_nanoseconds / SECOND, clock_nanoseconds % SECOND);
        self.line(format_args!(
            "reference time: {date}.{microseconds:06} = {seconds}.{microseconds:06} (TOD) = \
             {clock_seconds}.{clock_rest:09} ({name})"
        ));
        Ok(())
    }
}

fn microseconds(time: PerfTime) -> String {
    format!("{}.{:06}", time.0 / SECOND, time.0 % SECOND / 1000)
}

/// The clocks that `--clockid` takes.
fn clock_name(clock: u32) -> &'static str {
    match clock {
        0 => "realtime",
        1 => "monotonic",
        4 => "monotonic_raw",
        7 => "boottime",
        11 => "tai",
        _ => "(not found)",
    }
}
