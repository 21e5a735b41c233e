//! The path that is walked: its visits, and how it ends.

use super::Walker;
use crate::graph::{CachedPlace, End, TntCache};
use crate::item::ErrorKind;
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

impl Walker<'_> {
    /// True if anything ran since decoding began or was resumed.
    pub(in crate::decoder) fn has_path(&self) -> bool {
        self.path.is_known()
    }

    /// The path of before is not known.
    pub(in crate::decoder) fn forget_path(&mut self) {
        self.path.forget();
    }

    /// True if nothing ran on the path.
    #[inline]
    pub(in crate::decoder) fn is_path_empty(&self) -> bool {
        self.path.count == 0 && self.path.visits.is_empty()
    }

    /// The instructions of the walk so far.
    pub(in crate::decoder) fn path_count(&self) -> u64 {
        self.path.count
    }

    /// True if the first block of the walk ended with a branch that was taken.
    pub(in crate::decoder) fn first_is_taken(&self) -> bool {
        self.path.visits.first().is_some_and(|visit| visit.taken())
    }

    /// The visits of the path, in order.
    #[inline]
    pub(in crate::decoder) fn visits(&self) -> &[BlockVisit] {
        self.path.visits(self.graph.tnt_cache())
    }

    /// Instructions of the last visit that ran, where not all did.
    #[inline]
    pub(in crate::decoder) fn partial(&self) -> Option<u32> {
        self.path.partial
    }

    /// True if the instruction behind the last one did not fit the trace.
    pub(in crate::decoder) fn is_refused(&self) -> bool {
        self.path.refused
    }

    /// True if tracing ended with the path.
    #[inline]
    pub(in crate::decoder) fn ends_tracing(&self) -> bool {
        self.path.end
    }

    /// The address at which the path arrived.
    #[inline]
    pub(in crate::decoder) fn next_ip(&self) -> Option<u64> {
        self.path.next
    }

    /// The path goes on at `ip`.
    pub(in crate::decoder) fn set_next_ip(&mut self, ip: u64) {
        self.path.next = Some(ip);
    }

    /// The path arrived where the program is, if nothing else is known.
    #[inline]
    pub(in crate::decoder) fn complete_next_ip(&mut self) {
        if let (None, false, Some(node)) = (self.path.next, self.path.end, self.position) {
            self.path.next = Some(self.graph.ip(node));
        }
    }

    /// The visits so far decide nothing.
    pub(in crate::decoder) fn set_undecided(&mut self) {
        self.path.undecided = self.path.visits.len();
    }

    /// Ends a path that could not go on. An instruction whose outcome does not fit did not run.
    pub(in crate::decoder) fn refuse(&mut self, kind: ErrorKind) {
        let Some(visit) = self.path.visits.last() else {
            return;
        };
        let node = self.graph.node(visit.block().0);
        let refused = kind == ErrorKind::Mismatch;
        // Behind a branch that was followed, the path ended before any other instruction.
        let decided = matches!(node.end, End::Conditional | End::Return | End::Indirect);
        self.path.refused = refused;
        self.path.partial = (refused || !decided).then(|| node.count - u32::from(refused));
    }

    /// The first instruction of the path whose outcome the trace gives, counted from 1.
    pub(in crate::decoder) fn decision(&self) -> Option<u64> {
        let last = match self.deciding_visit() {
            Some(visit) => visit + 1,
            None if self.path.end => self.visits().len(),
            None => return None,
        };
        let counts = (0..last).filter_map(|visit| self.executed(visit));
        Some(counts.map(u64::from).sum())
    }

    /// The first visit whose block ran up to a branch of which the trace gives the outcome.
    pub(in crate::decoder) fn deciding_visit(&self) -> Option<usize> {
        let visits = self.visits();
        let whole = visits.len() - usize::from(self.path.partial.is_some());
        let decides = |visit: &BlockVisit| {
            let end = self.graph.node(visit.block().0).end;
            matches!(end, End::Conditional | End::Return | End::Indirect)
        };
        (self.path.undecided..whole).find(|visit| decides(&visits[*visit]))
    }

    /// Instructions of a visit of the path that ran.
    pub(in crate::decoder) fn executed(&self, index: usize) -> Option<u32> {
        let visits = self.visits();
        let visit = visits.get(index)?;
        match self.path.partial {
            Some(partial) if index + 1 == visits.len() => Some(partial),
            _ => Some(self.graph.node(visit.block().0).count),
        }
    }

    /// Lists the branches and the end of the path, as numbers of instructions: the next sample is chosen anew there.
    pub(in crate::decoder) fn list_pieces(&self, pieces: &mut Vec<u64>) {
        pieces.clear();
        let mut before = 0;
        for (index, visit) in self.visits().iter().enumerate() {
            let executed = self.executed(index).unwrap_or_default();
            let block = self.graph.block(visit.block().0);
            let jumps = block.jumps().iter().map(|&jump| u32::from(jump) + 1);
            let ends = jumps.take_while(|&end| end < executed).chain([executed]);
            pieces.extend(ends.map(|end| before + u64::from(end)));
            before += u64::from(executed);
        }
    }
}
