//! The path that is walked: its visits, and how it ends.

use crate::graph::{CachedPlace, TntCache};
use crate::path::BlockVisit;

/// The place of the visits of a path.
#[derive(Clone, Copy, Debug, Default)]
enum Visits {
    /// Nothing ran yet.
    #[default]
    None,
    /// In `WalkedPath::visits`.
    Walked,
    /// With the remembered paths.
    Cached(CachedPlace),
}

/// The path that is walked now, or was walked last.
#[derive(Debug, Default)]
pub(super) struct WalkedPath {
    place: Visits,
    /// Visits of a walk, in order.
    pub(super) visits: Vec<BlockVisit>,
    /// Visits at its beginning that decide nothing, whatever they end with.
    pub(super) undecided: usize,
    /// Instructions of the walk so far.
    pub(super) count: u64,
    /// Instructions of the last visit that ran, where not all did.
    pub(super) partial: Option<u32>,
    /// The instruction behind the last one did not fit the trace.
    pub(super) refused: bool,
    pub(super) next: Option<u64>,
    pub(super) end: bool,
}

impl WalkedPath {
    /// True if anything ran.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.place, Visits::None)
    }

    /// The path of before is not known.
    pub(super) fn forget(&mut self) {
        self.start();
        self.place = Visits::None;
    }

    /// A walk begins.
    #[inline]
    pub(super) fn start(&mut self) {
        self.place = Visits::Walked;
        self.visits.clear();
        self.undecided = 0;
        self.count = 0;
        self.partial = None;
        self.refused = false;
        self.next = None;
        self.end = false;
    }

    /// A remembered path was taken.
    #[inline]
    pub(super) fn take_cached(&mut self, place: CachedPlace) {
        self.place = Visits::Cached(place);
        self.undecided = 0;
        self.partial = None;
        self.refused = false;
        self.end = false;
        self.next = None;
    }

    /// The visits, in order.
    #[inline]
    pub(super) fn visits<'a>(&'a self, cache: &'a TntCache) -> &'a [BlockVisit] {
        match self.place {
            Visits::None => &[],
            Visits::Walked => &self.visits,
            Visits::Cached(place) => cache.visits(place),
        }
    }
}
