//! The samples whose call chains are shown.

use oxperf_session::SampleEvent;

/// The samples whose call chains a format shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ChainUse {
    /// None.
    #[default]
    Never,
    /// Those that were recorded with one.
    WhereRecorded,
    /// All.
    Always,
}

impl ChainUse {
    /// Returns true if the chain of a sample is shown.
    #[inline]
    pub fn takes(self, event: &SampleEvent<'_>) -> bool {
        match self {
            ChainUse::Never => false,
            ChainUse::WhereRecorded => event.sample.callchain.is_some(),
            ChainUse::Always => true,
        }
    }
}
