//! Remembered paths: the end of a TNT packet of one byte, by the block where it begins.

use crate::path::BlockVisit;
use crate::state::{Change, ReturnStack};

/// Values of such a byte, halved: its lowest bit is 0.
const ROW: usize = 128;

/// Sizes at which all paths are forgotten.
const ROWS: usize = 1 << 15;
const PATHS: usize = 1 << 18;

/// No path, no row.
const NONE: u32 = 0;

/// The end of a TNT packet, if the return stack has what it pops. What is read of it comes from one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct CachedPath {
    /// The node behind it.
    pub(crate) end: u32,
    /// Instructions of the path.
    pub(crate) instructions: u32,
    /// The visits of the path: the first, and their number.
    visits: u32,
    visit_count: u16,
    /// Its changes of the return stack.
    change: Change,
    /// Another path that pops something else.
    other: u32,
}

impl CachedPath {
    /// The place of its visits.
    #[inline]
    pub(crate) const fn place(&self) -> CachedPlace {
        CachedPlace {
            first: self.visits,
            count: self.visit_count,
        }
    }
}

/// The place of a path's visits in the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedPlace {
    first: u32,
    count: u16,
}

/// A path that was walked.
pub(crate) struct NewPath<'a> {
    /// The node behind it.
    pub(crate) end: u32,
    pub(crate) instructions: u64,
    pub(crate) visits: &'a [BlockVisit],
    pub(crate) recorder: &'a PathRecorder,
}

/// All remembered paths.
#[derive(Debug)]
pub(crate) struct TntCache {
    /// Of each node: its row.
    rows: Vec<u32>,
    /// Of each row and byte: the first path.
    table: Vec<u32>,
    paths: Vec<CachedPath>,
    visits: Vec<BlockVisit>,
}

/// The changes of the return stack on a path while it is walked the first time.
#[derive(Debug, Default)]
pub(crate) struct PathRecorder {
    pops: Vec<u32>,
    pushes: Vec<u32>,
    /// It depends on more than the block and the return stack.
    poisoned: bool,
}

impl PathRecorder {
    pub(crate) fn clear(&mut self) {
        self.pops.clear();
        self.pushes.clear();
        self.poisoned = false;
    }

    pub(crate) fn push(&mut self, node: u32) {
        self.pushes.push(node);
    }

    pub(crate) fn pop(&mut self, node: u32) {
        if self.pushes.pop().is_none() {
            self.pops.push(node);
        }
    }

    pub(crate) fn poison(&mut self) {
        self.poisoned = true;
    }
}

impl TntCache {
    pub(crate) fn new() -> TntCache {
        let (rows, table, paths, visits) = Default::default();
        let mut tnt_cache = TntCache {
            rows,
            table,
            paths,
            visits,
        };
        tnt_cache.clear();
        tnt_cache
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.table.clear();
        self.table.resize(ROW, NONE);
        self.paths.clear();
        self.visits.clear();
        self.paths.push(CachedPath {
            end: 0,
            instructions: 0,
            visits: 0,
            visit_count: 0,
            change: Change::default(),
            other: NONE,
        });
    }

    /// The path from `node` with the outcomes of `byte`, if it was walked before with the same returns. Applies it to
    /// the return stack.
    #[inline]
    pub(crate) fn follow(
        &self,
        node: u32,
        byte: u8,
        stack: &mut ReturnStack,
    ) -> Option<&CachedPath> {
        let row = self.rows.get(node as usize).copied().unwrap_or(NONE);
        let mut number = self.table[row as usize * ROW + usize::from(byte >> 1)];
        while number != NONE {
            let path = &self.paths[number as usize];
            if stack.apply(&path.change) {
                return Some(path);
            }
            number = path.other;
        }
        None
    }

    /// The visits of a path.
    #[inline]
    pub(crate) fn visits(&self, place: CachedPlace) -> &[BlockVisit] {
        &self.visits[place.first as usize..][..usize::from(place.count)]
    }

    /// Remembers a path that was walked.
    pub(crate) fn add(&mut self, node: u32, byte: u8, walk: NewPath<'_>) {
        let NewPath {
            end,
            instructions,
            visits,
            recorder,
        } = walk;
        let change = Change::new(&recorder.pops, &recorder.pushes);
        let (Some(change), false, Ok(instructions)) =
            (change, recorder.poisoned, u32::try_from(instructions))
        else {
            return;
        };
        let Ok(visit_count) = u16::try_from(visits.len()) else {
            return;
        };
        if self.table.len() >= ROWS * ROW || self.paths.len() >= PATHS {
            self.clear();
        }
        let slot = self.row(node) as usize * ROW + usize::from(byte >> 1);
        let path = CachedPath {
            end,
            instructions,
            visits: self.visits.len() as u32,
            visit_count,
            change,
            other: self.table[slot],
        };
        self.visits.extend_from_slice(visits);
        self.table[slot] = self.paths.len() as u32;
        self.paths.push(path);
    }

    fn row(&mut self, node: u32) -> u32 {
        let node = node as usize;
        if self.rows.len() <= node {
            self.rows.resize(node + 1, NONE);
        }
        if self.rows[node] == NONE {
            self.rows[node] = (self.table.len() / ROW) as u32;
            self.table.resize(self.table.len() + ROW, NONE);
        }
        self.rows[node]
    }
}
