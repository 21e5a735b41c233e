//! The stack of return addresses that compressed returns refer to.
//!
//! Processors keep 64 entries. What a processor has forgotten it never refers to, so that keeping more does no harm;
//! programs that leave frames behind (longjmp) leave them behind here as in the processor.

/// Entries that are kept at most; older ones are forgotten.
const LIMIT: usize = 1 << 16;

/// Entries that a [`Change`] can compare and add at once.
pub(crate) const WIDTH: usize = 4;

/// Below the oldest entry: equal to no node.
const BOTTOM: u32 = u32::MAX;

/// Return addresses as nodes of the block graph, the newest last.
#[derive(Clone, Debug)]
pub(crate) struct ReturnStack {
    /// [`WIDTH`] times [`BOTTOM`], the entries, and room for at least [`WIDTH`] more.
    nodes: Vec<u32>,
    /// Behind the newest entry.
    top: usize,
    /// Entries below this were put here when addresses meant other code.
    stale: usize,
}

/// All ones for each of the newest entries, by their number.
const MASKS: [[u32; WIDTH]; WIDTH + 1] = [
    [0, 0, 0, 0],
    [0, 0, 0, !0],
    [0, 0, !0, !0],
    [0, !0, !0, !0],
    [!0, !0, !0, !0],
];

/// The entries that a piece of code takes from the stack and then puts there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    /// The entries that it takes, the newest last and at the end of the array.
    pops: [u32; WIDTH],
    /// The entries that it adds, the newest last.
    pushes: [u32; WIDTH],
    pop_count: u8,
    push_count: u8,
}

impl Change {
    /// Takes `pops`, the newest first, and adds `pushes`, the newest last. `None` if they are too many.
    pub(crate) fn new(pops: &[u32], pushes: &[u32]) -> Option<Change> {
        let mut change = Change {
            pop_count: pops.len() as u8,
            push_count: pushes.len() as u8,
            ..Change::default()
        };
        change
            .pushes
            .get_mut(..pushes.len())?
            .copy_from_slice(pushes);
        let first = WIDTH.checked_sub(pops.len())?;
        for (slot, &node) in change.pops[first..].iter_mut().zip(pops.iter().rev()) {
            *slot = node;
        }
        Some(change)
    }
}

impl Default for ReturnStack {
    fn default() -> Self {
        ReturnStack {
            nodes: vec![BOTTOM; 16 * WIDTH],
            top: WIDTH,
            stale: WIDTH,
        }
    }
}

impl ReturnStack {
    #[inline]
    pub(crate) fn push(&mut self, node: u32) {
        self.nodes[self.top] = node;
        self.top += 1;
        self.make_room();
    }

    /// Applies a change, if what it takes is there and means what it meant.
    #[inline]
    pub(crate) fn apply(&mut self, change: &Change) -> bool {
        let newest = &self.nodes[self.top - WIDTH..self.top];
        let expected = change
            .pops
            .iter()
            .zip(&MASKS[usize::from(change.pop_count)]);
        let differ = newest
            .iter()
            .zip(expected)
            .fold(0, |differ, (node, (pop, mask))| {
                differ | (node ^ pop) & mask
            });
        let rest = self.top - usize::from(change.pop_count);
        if differ != 0 || rest < self.stale {
            return false;
        }
        self.nodes[rest..rest + WIDTH].copy_from_slice(&change.pushes);
        self.top = rest + usize::from(change.push_count);
        self.make_room();
        true
    }

    #[inline]
    fn make_room(&mut self) {
        if self.top + WIDTH > self.nodes.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        if self.top < LIMIT {
            return self.nodes.resize(2 * self.nodes.len(), BOTTOM);
        }
        let forgotten = LIMIT / 2;
        self.nodes.drain(WIDTH..WIDTH + forgotten);
        self.nodes.resize(self.nodes.len() + forgotten, BOTTOM);
        self.top -= forgotten;
        self.stale = self.stale.saturating_sub(forgotten).max(WIDTH);
    }

    /// Takes the newest entry; true beside it says that its address has to be looked up again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u32, bool)> {
        if self.top == WIDTH {
            return None;
        }
        self.top -= 1;
        let stale = self.top < self.stale;
        self.stale = self.stale.min(self.top);
        Some((self.nodes[self.top], stale))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.top == WIDTH
    }

    pub(crate) fn clear(&mut self) {
        self.top = WIDTH;
        self.stale = WIDTH;
    }

    /// From now on addresses mean other code.
    pub(crate) fn outdate(&mut self) {
        self.stale = self.top;
    }

    /// Replaces every node by another one.
    pub(crate) fn replace(&mut self, mut by: impl FnMut(u32) -> u32) {
        self.nodes[WIDTH..self.top]
            .iter_mut()
            .for_each(|node| *node = by(*node));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_entries_are_known_as_old() {
        let mut stack = ReturnStack::default();
        stack.push(1);
        stack.push(2);
        stack.outdate();
        stack.push(3);
        assert!(!stack.apply(&Change::new(&[3, 2], &[]).unwrap()));
        assert!(stack.apply(&Change::new(&[3], &[]).unwrap()));
        assert_eq!(stack.pop(), Some((2, true)));
        stack.push(4);
        assert_eq!(stack.pop(), Some((4, false)));
        assert_eq!((stack.pop(), stack.pop()), (Some((1, true)), None));
    }

    #[test]
    fn changes_take_what_is_there_and_add() {
        let mut stack = ReturnStack::default();
        stack.push(1);
        stack.push(2);
        assert!(!stack.apply(&Change::new(&[2, 1, 0], &[]).unwrap()));
        assert!(!stack.apply(&Change::new(&[1, 2], &[]).unwrap()));
        assert!(stack.apply(&Change::new(&[2, 1], &[7, 8, 9]).unwrap()));
        assert_eq!(
            [stack.pop(), stack.pop(), stack.pop()].map(|entry| entry.unwrap().0),
            [9, 8, 7]
        );
        assert!(!stack.apply(&Change::new(&[BOTTOM - 1], &[]).unwrap()));
        assert!(
            Change::new(&[0; WIDTH + 1], &[]).is_none()
                && Change::new(&[], &[0; WIDTH + 1]).is_none()
        );
    }

    #[test]
    fn depth_is_bounded() {
        let mut stack = ReturnStack::default();
        (0..3 * LIMIT as u32).for_each(|node| stack.push(node));
        assert!(stack.nodes.len() <= 2 * LIMIT);
        assert_eq!(stack.pop(), Some((3 * LIMIT as u32 - 1, false)));
    }
}
