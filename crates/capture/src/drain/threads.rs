//! Several threads that drain, each its share of the rings, each ring into an output of its own.
//!
//! ```text
//!  the recorder's thread: signals, the workload, tasks that are gone
//!     | stop                                    ^ a thread has ended
//!     v                                         |
//!  thread: waits for its rings -> drains each of them -> the ring's own file
//! ```
//!
//! No two threads write to one output, and none waits for another. Nothing is shared but two pipes.

use std::io::{self, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use oxperf_abi::Cpu;
use oxperf_data::WriteError;
use oxperf_sys::{DataRing, EventFd, PollSet, PollSlot, cpus};

use super::Drain;
use crate::output::RecordOutput;

/// The share of a thread.
pub(crate) struct DrainShare<'a, O> {
    /// The CPUs on which it runs; none for those that the system chooses.
    pub(crate) runs_on: Vec<Cpu>,
    /// The rings that it drains.
    pub(crate) rings: Vec<RingToOutput<'a, O>>,
}

/// A ring and the place for its records.
pub(crate) struct RingToOutput<'a, O> {
    /// The event that wakes when the ring is half full.
    pub(crate) owner: &'a EventFd,
    pub(crate) ring: DataRing,
    pub(crate) output: O,
}

/// The outcome of a thread.
pub(crate) struct Drained<O> {
    /// Its outputs, in the order of its rings.
    pub(crate) outputs: Vec<O>,
    /// The number of times that it was woken to move records.
    pub(crate) wakeups: u64,
    /// The first write that was refused; it ended the thread.
    pub(crate) failure: Option<WriteError>,
}

/// Threads that drain until they are stopped.
pub(crate) struct DrainThreads<O> {
    threads: Vec<JoinHandle<Drained<O>>>,
    /// Closed to stop the threads.
    stop: Option<PipeWriter>,
    /// Has a byte for each thread that has ended.
    ended: PipeReader,
}

impl<O: RecordOutput + Send + 'static> DrainThreads<O> {
    /// Starts a thread for each share that has rings. Every ring is drained when it is half full and every `interval`.
    ///
    /// # Errors
    /// The kernel gives no thread or no pipe.
    pub(crate) fn start<'a>(
        shares: impl IntoIterator<Item = DrainShare<'a, O>>,
        interval: Duration,
    ) -> io::Result<DrainThreads<O>>
    where
        O: 'a,
    {
        let (stopped, stop) = pipe()?;
        let (ended, end) = pipe()?;
        let stopped = Arc::new(stopped);
        let mut threads = DrainThreads {
            threads: Vec::new(),
            stop: Some(stop),
            ended,
        };
        for share in shares.into_iter().filter(|share| !share.rings.is_empty()) {
            let signals = ThreadSignals {
                stopped: Arc::clone(&stopped),
                _ended: TellsItsEnd(end.try_clone()?),
            };
            let thread = DrainThread::new(share, signals, interval);
            let started = Builder::new()
                .name("drain".to_owned())
                .spawn(|| thread.run());
            threads.threads.push(started?);
        }
        Ok(threads)
    }

    /// Stops the threads when each has drained its rings once more, and gives their outcomes.
    pub(crate) fn finish(mut self) -> Vec<Drained<O>> {
        self.stop_all()
    }
}

impl<O> DrainThreads<O> {
    fn stop_all(&mut self) -> Vec<Drained<O>> {
        self.stop = None;
        // Nothing panics there; what a panic took with it could not be given back.
        let threads = self.threads.drain(..);
        threads.filter_map(|thread| thread.join().ok()).collect()
    }
}

impl<O> Drop for DrainThreads<O> {
    fn drop(&mut self) {
        self.stop_all();
    }
}

/// Readable when a thread has ended that was not stopped.
impl<O> AsFd for DrainThreads<O> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

/// The pipes of a thread.
struct ThreadSignals {
    /// Its other side is closed when the thread is to stop.
    stopped: Arc<PipeReader>,
    _ended: TellsItsEnd,
}

/// Tells when it goes, for whatever reason.
struct TellsItsEnd(PipeWriter);

impl Drop for TellsItsEnd {
    fn drop(&mut self) {
        // Whoever would hear it may have gone before.
        let _ = self.0.write(&[0]);
    }
}

/// A thread's own side.
struct DrainThread<O> {
    runs_on: Vec<Cpu>,
    rings: Vec<(PollSlot, Drain, O)>,
    poll: PollSet,
    stop_slot: PollSlot,
    interval: Duration,
    wakeups: u64,
    signals: ThreadSignals,
}

impl<O: RecordOutput> DrainThread<O> {
    fn new(share: DrainShare<'_, O>, signals: ThreadSignals, interval: Duration) -> DrainThread<O> {
        let mut poll = PollSet::new();
        let stop_slot = poll.add(&*signals.stopped);
        let rings = share.rings.into_iter().map(|ring| {
            // The records of one ring need no rounds.
            let drain = Drain::new(vec![ring.ring]).without_rounds();
            (poll.add(ring.owner), drain, ring.output)
        });
        DrainThread {
            runs_on: share.runs_on,
            rings: rings.collect(),
            poll,
            stop_slot,
            interval,
            wakeups: 0,
            signals,
        }
    }

    fn run(mut self) -> Drained<O> {
        if !self.runs_on.is_empty() {
            // A CPU may have gone by now; records are moved from anywhere.
            let _ = cpus::set_affinity(&self.runs_on);
        }
        let failure = self.drain_until_stopped().err();
        drop(self.signals);
        Drained {
            outputs: self
                .rings
                .into_iter()
                .map(|(_, _, output)| output)
                .collect(),
            wakeups: self.wakeups,
            failure,
        }
    }

    /// Every wait is followed by a pass, the last one too.
    fn drain_until_stopped(&mut self) -> Result<(), WriteError> {
        loop {
            // Where waiting is refused, as without memory, the rings are looked at nevertheless.
            let _ = self.poll.wait(Some(self.interval));
            let is_last = self.poll.readiness(self.stop_slot).hung_up;
            self.pass()?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn pass(&mut self) -> Result<(), WriteError> {
        let mut moved = 0;
        for (slot, drain, output) in &mut self.rings {
            let state = self.poll.readiness(*slot);
            if state.hung_up || state.failed || state.closed {
                self.poll.remove(*slot);
            }
            moved += drain.pass(output)?;
        }
        self.wakeups += u64::from(moved > 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{EventAttr, RecordType};
    use oxperf_data::FilePart;
    use oxperf_sys::{EventTask, FakeKernel, Kernel, OpenRequest, RingPages};
    use std::io::ErrorKind;

    /// Keeps what it is given, up to a size.
    struct Kept {
        bytes: Vec<u8>,
        limit: usize,
    }

    impl RecordOutput for Kept {
        fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
            if self.bytes.len() + records.len() > self.limit {
                return Err(WriteError {
                    part: FilePart::Records,
                    offset: oxperf_abi::FileOffset(0),
                    size: records.len() as u64,
                    written: 0,
                    safe: 0,
                    source: ErrorKind::StorageFull.into(),
                });
            }
            self.bytes.extend_from_slice(records);
            Ok(())
        }

        fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
            assert_eq!(mark, None);
            Ok(())
        }
    }

    fn open(kernel: &FakeKernel) -> (EventFd, DataRing) {
        let attr = EventAttr::default();
        let event = kernel
            .open(&OpenRequest::new(&attr, EventTask::Caller))
            .unwrap();
        let ring = kernel.map_ring(&event, RingPages::new(1).unwrap()).unwrap();
        (event, ring)
    }

    fn share(limit: usize, rings: Vec<(&EventFd, DataRing)>) -> DrainShare<'_, Kept> {
        let rings = rings.into_iter().map(|(owner, ring)| RingToOutput {
            owner,
            ring,
            output: Kept {
                bytes: Vec::new(),
                limit,
            },
        });
        DrainShare {
            runs_on: Vec::new(),
            rings: rings.collect(),
        }
    }

    /// The words without the records of how often a ring was full, which is a matter of chance.
    fn without_losses(bytes: &[u8]) -> Vec<u64> {
        let words = bytes.chunks_exact(8);
        let words: Vec<u64> = words
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let mut kept = Vec::new();
        let mut rest = &words[..];
        while let [word, behind @ ..] = rest {
            let is_lost = *word & 0xffff_ffff == u64::from(RecordType::LOST.0) && *word >> 48 == 24;
            rest = if is_lost { &behind[2..] } else { behind };
            kept.extend((!is_lost).then_some(*word));
        }
        kept
    }

    const OFTEN: Duration = Duration::from_millis(1);

    #[test]
    fn each_ring_has_an_output_whoever_drains_it() {
        let kernel = FakeKernel::new();
        let [(a, first), (b, second), (c, third)] = [(); 3].map(|()| open(&kernel));
        let shares = [
            share(usize::MAX, vec![(&a, first), (&b, second)]),
            share(usize::MAX, Vec::new()),
            share(usize::MAX, vec![(&c, third)]),
        ];
        let threads = DrainThreads::start(shares, OFTEN).unwrap();
        // More than a ring holds, so that it is drained while it fills.
        for number in 0..3 * 4096_u64 / 8 {
            for ring in 0..3 {
                let word = number * 3 + ring as u64;
                while !kernel.write_records(ring, &word.to_ne_bytes()) {
                    std::thread::yield_now();
                }
            }
        }
        let drained = threads.finish();
        assert!(
            drained
                .iter()
                .all(|one| one.failure.is_none() && one.wakeups >= 1)
        );
        let outputs: Vec<Vec<u64>> = drained
            .iter()
            .flat_map(|one| &one.outputs)
            .map(|output| without_losses(&output.bytes))
            .collect();
        assert_eq!((drained.len(), outputs.len()), (2, 3));
        for (ring, words) in outputs.iter().enumerate() {
            let expected = (0..3 * 4096 / 8).map(|number| number * 3 + ring as u64);
            assert!(words.iter().copied().eq(expected));
        }
    }

    #[test]
    fn a_full_disk_ends_a_thread_and_is_told() {
        let kernel = FakeKernel::new();
        let [(a, first), (b, second)] = [(); 2].map(|()| open(&kernel));
        let shares = [share(8, vec![(&a, first)]), share(8, vec![(&b, second)])];
        let threads = DrainThreads::start(shares, OFTEN).unwrap();
        assert!(kernel.write_records(0, &[1; 16]));
        assert!(kernel.write_records(1, &[2; 8]));
        let mut poll = PollSet::new();
        let slot = poll.add(&threads);
        poll.wait(Some(Duration::from_secs(60))).unwrap();
        assert!(poll.readiness(slot).readable);
        let drained = threads.finish();
        let failed = drained.iter().map(|one| one.failure.is_some());
        assert!(failed.eq([true, false]));
        assert_eq!(drained[1].outputs[0].bytes, [2; 8]);
    }
}
