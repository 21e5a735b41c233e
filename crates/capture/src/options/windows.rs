//! The windows of time in which a recording counts, when it does not count throughout.

use std::ops::Range;
use std::time::Duration;

/// The windows after the start of the workload in which counting is on. The first opens when counting begins
/// ([`Start`](super::Start)); a pause parts each from the next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Windows {
    /// The times between two windows, in order.
    pub pauses: Vec<Range<Duration>>,
    /// The end of the last window and of the recording; `None` for one that goes on.
    pub end: Option<Duration>,
}
