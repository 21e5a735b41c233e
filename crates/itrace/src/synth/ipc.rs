//! Instructions and cycles between samples.

/// Instructions and cycles at the last sample of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counted {
    instructions: u64,
    cycles: u64,
}

impl Counted {
    /// Instructions and cycles since the last time that cycles were counted; both 0 when none were.
    pub(crate) fn advance(&mut self, instructions: u64, cycles: Option<u64>) -> (u64, u64) {
        let passed = cycles.map_or(0, |cycles| cycles.wrapping_sub(self.cycles));
        if passed == 0 {
            return (0, 0);
        }
        let ran = instructions.wrapping_sub(self.instructions);
        *self = Counted {
            instructions,
            cycles: self.cycles.wrapping_add(passed),
        };
        (ran, passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_wait_until_cycles_pass() {
        let mut counted = Counted::default();
        assert_eq!(counted.advance(10, None), (0, 0));
        assert_eq!(counted.advance(20, Some(8)), (20, 8));
        assert_eq!(counted.advance(30, Some(8)), (0, 0));
        assert_eq!(counted.advance(40, Some(9)), (20, 1));
    }
}
