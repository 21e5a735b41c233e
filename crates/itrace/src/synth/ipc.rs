//! Instructions and cycles between samples.

/// Instructions and cycles since the last sample of an event; both 0 when no cycles were counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct IpcCounts {
    pub(crate) instructions: u64,
    pub(crate) cycles: u64,
}

/// Counts instructions and cycles from one sample of an event to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct IpcCounter {
    at_last: IpcCounts,
}

impl IpcCounter {
    /// The counts since the last time that cycles were counted.
    pub(super) fn advance(&mut self, instructions: u64, cycles: Option<u64>) -> IpcCounts {
        let before = self.at_last;
        let passed = cycles.map_or(0, |cycles| cycles.wrapping_sub(before.cycles));
        if passed == 0 {
            return IpcCounts::default();
        }
        self.at_last = IpcCounts {
            instructions,
            cycles: before.cycles.wrapping_add(passed),
        };
        IpcCounts {
            instructions: instructions.wrapping_sub(before.instructions),
            cycles: passed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_wait_until_cycles_pass() {
        let counts = |instructions, cycles| IpcCounts {
            instructions,
            cycles,
        };
        let mut counter = IpcCounter::default();
        assert_eq!(counter.advance(10, None), counts(0, 0));
        assert_eq!(counter.advance(20, Some(8)), counts(20, 8));
        assert_eq!(counter.advance(30, Some(8)), counts(0, 0));
        assert_eq!(counter.advance(40, Some(9)), counts(20, 1));
    }
}
