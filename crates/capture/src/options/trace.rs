//! What is kept of a hardware trace, and where it waits.

/// The trace of a recording whose events have one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AuxOptions {
    /// The newest trace is kept and written at moments that somebody chooses; `None` for the whole trace.
    pub snapshot: Option<SnapshotOptions>,
    /// The members of the group that a trace leads have a piece of it in each sample: bytes of it, where their own terms do
    /// not say. `None` for what the terms say.
    pub sample: Option<TraceSampleSize>,
    /// Pages of each area for trace, a power of two; `None` for the default.
    pub area_pages: Option<usize>,
    /// When threads begin and cease to run is recorded.
    pub switches: TraceSwitches,
}

/// Snapshots of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SnapshotOptions {
    /// Bytes of a snapshot of one area; `None` for all that an area holds.
    pub size: Option<usize>,
    /// One is also taken at the end.
    pub at_exit: bool,
}

/// Bytes of trace in a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceSampleSize(u32);

impl TraceSampleSize {
    /// What a sample has where nobody says otherwise.
    pub const DEFAULT: TraceSampleSize = TraceSampleSize(4096);
    /// The most: a record has less than 64 KiB.
    pub const MOST: u32 = 60 << 10;

    /// So many bytes; none where that is more than a record holds. 0 stands for the default.
    pub fn new(bytes: u64) -> Option<TraceSampleSize> {
        match u32::try_from(bytes).ok()? {
            0 => Some(TraceSampleSize::DEFAULT),
            bytes if bytes <= TraceSampleSize::MOST => Some(TraceSampleSize(bytes)),
            _ => None,
        }
    }

    /// Bytes.
    pub fn bytes(self) -> u32 {
        self.0
    }
}

/// Whose beginning and ceasing to run is recorded, for a trace that has times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TraceSwitches {
    /// Those of the target.
    #[default]
    OfTarget,
    /// Those of all tasks, where the recorder may see them.
    OfAll,
    /// None.
    Never,
}

/// What the samples of a recording with a trace have for its decoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracedSampling {
    /// The event that tracks tasks also tells when they begin and cease to run, from its opening on.
    pub switches: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_holds_less_than_a_record() {
        let bytes = |asked| TraceSampleSize::new(asked).map(TraceSampleSize::bytes);
        assert_eq!((bytes(0), bytes(5)), (Some(4096), Some(5)));
        assert_eq!((bytes(61440), bytes(61441)), (Some(61440), None));
        assert_eq!(bytes(u64::MAX), None);
    }
}
