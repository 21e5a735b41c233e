//! How many threads run at a moment, by the records of switches.

use oxperf_abi::{Misc, RecordType};

/// Counts threads that run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parallelism {
    running: i64,
    cpus: u32,
    samples: u64,
    /// Samples of threads that ran alone.
    alone: u64,
}

impl Parallelism {
    /// Latency is counted in parts of this: parts of one event count, too.
    const SCALE: u64 = 1000;

    /// On so many CPUs. The first thread runs before its recording begins.
    pub(super) fn new(cpus: u32) -> Parallelism {
        Parallelism {
            running: 1,
            cpus,
            samples: 0,
            alone: 0,
        }
    }

    /// Takes a record.
    pub(super) fn follow(&mut self, kind: RecordType, misc: Misc) {
        match kind {
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE if !misc.has(Misc::SWITCH_OUT) => {
                self.running += 1;
            }
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE | RecordType::EXIT => {
                self.running -= 1
            }
            _ => {}
        }
    }

    /// The part of the time that passed which a sample's period stands for, and the number of threads that share it: those
    /// that run at once.
    pub(super) fn latency(&mut self, period: u64) -> (u64, u32) {
        let most = i64::from(self.cpus.max(1));
        let threads = self.running.clamp(1, most).unsigned_abs();
        self.samples += 1;
        self.alone += u64::from(threads == 1);
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        (
            period.saturating_mul(Parallelism::SCALE) / u64::from(threads),
            threads,
        )
    }

    /// True if latency says anything: threads that nearly always run alone spend all their time.
    pub(super) fn matters(&self) -> bool {
        self.samples > 0 && self.alone.saturating_mul(100) / self.samples < 99
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_run_at_once_share_the_time() {
        let mut running = Parallelism::new(2);
        let (switch, out) = (RecordType::SWITCH, Misc(Misc::SWITCH_OUT));
        assert_eq!(running.latency(9), (9000, 1));
        running.follow(switch, Misc(0));
        assert_eq!(running.latency(9), (4500, 2));
        running.follow(switch, Misc(0));
        assert_eq!(running.latency(9), (4500, 2), "there are two CPUs");
        running.follow(RecordType::EXIT, Misc(0));
        running.follow(switch, out);
        running.follow(switch, out);
        assert_eq!(running.latency(9), (9000, 1));
        assert!(running.matters());
    }

    #[test]
    fn latency_says_nothing_of_threads_that_run_alone() {
        let mut running = Parallelism::new(4);
        assert!(!running.matters());
        assert_eq!((0..9).map(|_| running.latency(1).0).sum::<u64>(), 9000);
        assert!(!running.matters());
    }
}
