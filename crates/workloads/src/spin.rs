//! Time spent in a loop, and the arguments that say how much of it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::WorkloadError;

/// Steps between two looks at the clock: some tens of microseconds.
const ROUND: u32 = 1 << 16;

/// The end of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(Option<Instant>);

impl Until {
    /// So many seconds from now; zero seconds never pass.
    pub(crate) fn after(seconds: f64) -> Until {
        let span = Duration::try_from_secs_f64(seconds).ok();
        let span = span.filter(|span| !span.is_zero());
        Until(span.and_then(|span| Instant::now().checked_add(span)))
    }

    #[inline(never)]
    fn is_past(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// Does a step again and again until the time has passed. It becomes part of its caller, so that samples fall there.
#[inline(always)]
pub(crate) fn spin(until: Until, mut step: impl FnMut()) {
    loop {
        let mut left = ROUND;
        while left > 0 {
            step();
            left = black_box(left) - 1;
        }
        if until.is_past() {
            return;
        }
    }
}

/// The seconds that an argument gives, with a fraction if that is wanted.
pub(crate) fn seconds(argument: Option<&String>, default: f64) -> Result<f64, WorkloadError> {
    let Some(given) = argument else {
        return Ok(default);
    };
    let number = given.parse::<f64>().ok();
    number
        .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        .ok_or_else(|| WorkloadError::NotANumber {
            argument: "seconds",
            given: given.clone(),
            expected: "a number",
        })
}

/// The number of rounds that an argument gives.
pub(crate) fn loops(argument: Option<&String>, default: u64) -> Result<u64, WorkloadError> {
    let Some(given) = argument else {
        return Ok(default);
    };
    given.parse().map_err(|_| WorkloadError::NotANumber {
        argument: "loops",
        given: given.clone(),
        expected: "a whole number",
    })
}
