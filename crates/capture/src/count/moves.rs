//! Moves of this thread to the CPUs whose counters it opens, changes, reads or closes. A counter that counts on another CPU
//! takes an interrupt there for each call, for which this thread waits; from that CPU itself it takes none.

use oxperf_abi::Cpu;
use oxperf_sys::cpus::{self, Affinity};

/// So many counters of another CPU are worth a move: it costs about as much as eight interrupts there.
const WORTH_A_MOVE: usize = 9;

/// Where this thread is while it goes through counters. It may run where it might before when this is dropped.
pub(super) struct CpuMoves {
    may_move: bool,
    /// The CPUs on which it might run before the first move.
    before: Option<Affinity>,
}

impl CpuMoves {
    /// No move so far.
    pub(super) fn new(may_move: bool) -> CpuMoves {
        CpuMoves {
            may_move,
            before: None,
        }
    }

    /// Moves to a CPU on which there are so many counters, unless this thread is there. Nothing happens where that is of no use, or not allowed: the
    /// kernel reaches the counters all the same.
    pub(super) fn to(&mut self, cpu: Option<Cpu>, counters: usize) {
        let Some(cpu) = cpu.filter(|_| self.may_move && counters >= WORTH_A_MOVE) else {
            return;
        };
        if cpus::current() == Some(cpu) {
            return;
        }
        if self.before.is_none() {
            self.before = Affinity::current().ok();
        }
        if self.before.is_some() {
            // A CPU that is gone has no counters.
            let _ = cpus::set_affinity(&[cpu]);
        }
    }
}

impl Drop for CpuMoves {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It was allowed before.
            let _ = before.restore();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_moved_may_run_where_it_might_before() {
        let all = cpus::affinity().unwrap();
        // It stays here until it is moved.
        let here = all[0];
        cpus::set_affinity(&[here]).unwrap();
        let mut moves = CpuMoves::new(true);
        moves.to(Some(here), 1000);
        // Where there is one CPU alone, there is no other to go to.
        if let Some(&other) = all.get(1) {
            CpuMoves::new(false).to(Some(other), 1000);
            CpuMoves::new(true).to(Some(other), WORTH_A_MOVE - 1);
            assert_eq!(cpus::affinity().unwrap(), [here]);
            moves.to(Some(other), WORTH_A_MOVE);
            assert_eq!(cpus::affinity().unwrap(), [other]);
        }
        moves.to(None, 1000);
        moves.to(Some(Cpu(9999)), 1000);
        drop(moves);
        assert_eq!(cpus::affinity().unwrap(), [here]);
    }
}
