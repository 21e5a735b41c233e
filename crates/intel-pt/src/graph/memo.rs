//! Remembered ways: where a TNT packet of one byte leads from a block.

use crate::run::Visit;

/// Values of such a byte, halved: its lowest bit is 0.
const ROW: usize = 128;

/// Sizes at which all ways are forgotten.
const ROWS: usize = 1 << 15;
const PATHS: usize = 1 << 18;

/// No path, no row.
const NONE: u32 = 0;

/// Returns and calls that a remembered way holds at most.
const POPS: usize = 3;
const PUSHES: usize = 5;

/// Where a TNT packet leads, if the return stack has what it pops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The node behind it.
    pub(crate) end: u32,
    /// Instructions on the way.
    pub(crate) instructions: u32,
    /// The visits on the way: where they begin, and how many they are.
    visits: (u32, u16),
    pop_count: u8,
    push_count: u8,
    pops: [u32; POPS],
    pushes: [u32; PUSHES],
    /// Another path that pops something else.
    other: u32,
}

impl Path {
    /// What it takes from the return stack, the newest first.
    #[inline]
    pub(crate) fn pops(&self) -> &[u32] {
        &self.pops[..usize::from(self.pop_count)]
    }

    /// What it puts onto the return stack afterwards, the newest last.
    #[inline]
    pub(crate) fn pushes(&self) -> &[u32] {
        &self.pushes[..usize::from(self.push_count)]
    }
}

/// All remembered ways.
#[derive(Debug)]
pub(crate) struct Memo {
    /// Of each node: its row.
    rows: Vec<u32>,
    /// Of each row and byte: the first path.
    table: Vec<u32>,
    paths: Vec<Path>,
    visits: Vec<Visit>,
}

/// What happens on a way while it is walked the first time.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pops: Vec<u32>,
    pushes: Vec<u32>,
    /// It depends on more than the block and the return stack.
    unfit: bool,
}

impl Recorder {
    pub(crate) fn clear(&mut self) {
        self.pops.clear();
        self.pushes.clear();
        self.unfit = false;
    }

    pub(crate) fn push(&mut self, node: u32) {
        self.pushes.push(node);
    }

    pub(crate) fn pop(&mut self, node: u32) {
        if self.pushes.pop().is_none() {
            self.pops.push(node);
        }
    }

    pub(crate) fn spoil(&mut self) {
        self.unfit = true;
    }
}

impl Memo {
    pub(crate) fn new() -> Memo {
        let mut memo = Memo { rows: Vec::new(), table: Vec::new(), paths: Vec::new(), visits: Vec::new() };
        memo.clear();
        memo
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.table.clear();
        self.table.resize(ROW, NONE);
        self.paths.clear();
        self.visits.clear();
        let nothing = Path {
            end: 0,
            instructions: 0,
            visits: (0, 0),
            pop_count: 0,
            push_count: 0,
            pops: [0; POPS],
            pushes: [0; PUSHES],
            other: NONE,
        };
        self.paths.push(nothing);
    }

    /// The ways from `node` with the outcomes of `byte`, to be tried in order.
    #[inline]
    pub(crate) fn paths(&self, node: u32, byte: u8) -> Candidates<'_> {
        let row = self.rows.get(node as usize).copied().unwrap_or(NONE);
        let next = self.table[row as usize * ROW + usize::from(byte >> 1)];
        Candidates { memo: self, next }
    }

    /// The visits of a way.
    #[inline]
    pub(crate) fn visits(&self, place: (u32, u16)) -> &[Visit] {
        &self.visits[place.0 as usize..][..usize::from(place.1)]
    }

    /// Remembers a way that was walked.
    pub(crate) fn add(
        &mut self,
        node: u32,
        byte: u8,
        end: u32,
        instructions: u64,
        visits: &[Visit],
        way: &Recorder,
    ) {
        let fits =
            way.pops.len() <= POPS && way.pushes.len() <= PUSHES && visits.len() <= usize::from(u16::MAX);
        let (true, false, Ok(instructions)) = (fits, way.unfit, u32::try_from(instructions)) else { return };
        if self.table.len() >= ROWS * ROW || self.paths.len() >= PATHS {
            self.clear();
        }
        let slot = self.row(node) as usize * ROW + usize::from(byte >> 1);
        let place = (self.visits.len() as u32, visits.len() as u16);
        self.visits.extend_from_slice(visits);
        let mut path = Path {
            end,
            instructions,
            visits: place,
            pop_count: way.pops.len() as u8,
            push_count: way.pushes.len() as u8,
            pops: [0; POPS],
            pushes: [0; PUSHES],
            other: self.table[slot],
        };
        path.pops[..way.pops.len()].copy_from_slice(&way.pops);
        path.pushes[..way.pushes.len()].copy_from_slice(&way.pushes);
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

/// Ways that may fit, the newest first.
pub(crate) struct Candidates<'a> {
    memo: &'a Memo,
    next: u32,
}

impl<'a> Iterator for Candidates<'a> {
    type Item = &'a Path;

    #[inline]
    fn next(&mut self) -> Option<&'a Path> {
        if self.next == NONE {
            return None;
        }
        let path = &self.memo.paths[self.next as usize];
        self.next = path.other;
        Some(path)
    }
}

impl Path {
    /// Where its visits are.
    #[inline]
    pub(crate) const fn place(&self) -> (u32, u16) {
        self.visits
    }
}
