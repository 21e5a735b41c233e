//! The stack of return addresses that compressed returns refer to.
//!
//! Processors keep 64 entries. What a processor has forgotten it never refers to, so that keeping more does no harm;
//! programs that leave frames behind (longjmp) leave them behind here as in the processor.

/// Entries that are kept at most; older ones are forgotten.
const LIMIT: usize = 1 << 16;

/// Return addresses as nodes of the block graph, the newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReturnStack {
    nodes: Vec<u32>,
    /// So many of the oldest entries were put here when addresses meant other code.
    stale: usize,
}

impl ReturnStack {
    #[inline]
    pub(crate) fn push(&mut self, node: u32) {
        if self.nodes.len() == LIMIT {
            self.forget();
        }
        self.nodes.push(node);
    }

    #[cold]
    fn forget(&mut self) {
        self.nodes.drain(..LIMIT / 2);
        self.stale = self.stale.saturating_sub(LIMIT / 2);
    }

    /// Takes the newest entry; true beside it says that its address has to be looked up again.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u32, bool)> {
        let node = self.nodes.pop()?;
        let stale = self.nodes.len() < self.stale;
        self.stale = self.stale.min(self.nodes.len());
        Some((node, stale))
    }

    /// Takes these entries, the first of them the newest, if they are there and mean what they meant.
    #[inline]
    pub(crate) fn pop_expected(&mut self, expected: &[u32]) -> bool {
        let Some(rest) = self.nodes.len().checked_sub(expected.len()) else { return false };
        if rest < self.stale || !self.nodes[rest..].iter().rev().eq(expected) {
            return false;
        }
        self.nodes.truncate(rest);
        true
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.stale = 0;
    }

    /// From now on addresses mean other code.
    pub(crate) fn outdate(&mut self) {
        self.stale = self.nodes.len();
    }

    /// Replaces every node by another one.
    pub(crate) fn replace(&mut self, mut by: impl FnMut(u32) -> u32) {
        self.nodes.iter_mut().for_each(|node| *node = by(*node));
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
        assert!(!stack.pop_expected(&[3, 2]));
        assert!(stack.pop_expected(&[3]));
        assert_eq!(stack.pop(), Some((2, true)));
        stack.push(4);
        assert_eq!(stack.pop(), Some((4, false)));
        assert_eq!((stack.pop(), stack.pop()), (Some((1, true)), None));
    }

    #[test]
    fn depth_is_bounded() {
        let mut stack = ReturnStack::default();
        (0..3 * LIMIT as u32).for_each(|node| stack.push(node));
        assert!(stack.nodes.len() <= LIMIT);
        assert_eq!(stack.pop(), Some((3 * LIMIT as u32 - 1, false)));
    }
}
