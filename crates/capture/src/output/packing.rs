//! Compression on a thread of its own: whoever drains hands records over and goes on.
//!
//! ```text
//!  drain -> records, marks -> queue -> thread: counts and compresses -> queue -> the recorder's thread writes
//! ```
//!
//! What goes in comes out in the same order, as one compressed stream. The recorder's thread alone writes: it is woken for
//! what is compressed. As much as [`MOST_WAITING`] may wait for the thread; then the drain waits, too.

use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

use oxperf_sys::Waker;

use super::compression::Compressor;
use crate::finish::Tally;

/// Bytes that may wait to be compressed: a second of copied stacks at a high rate.
const MOST_WAITING: usize = 64 << 20;
/// Buffers that are kept to be filled again.
const MOST_SPARE: usize = 16;

/// Records and marks on their way through the thread.
pub(super) struct Packing {
    /// `None` when nothing more comes.
    jobs: Option<Sender<Job>>,
    done: Receiver<Packed>,
    thread: Option<JoinHandle<Worked>>,
    /// Bytes of what was handed over and has not come back.
    waiting: usize,
    spare: Vec<Vec<u8>>,
    most_waiting: usize,
}

/// What the thread used, when it has ended.
pub(super) struct Worked {
    pub(super) compressor: Compressor,
    /// The count of what was compressed.
    pub(super) tally: Tally,
}

enum Job {
    /// Whole records, to be compressed.
    Records(Vec<u8>),
    /// A record that stays as it is.
    Mark(Vec<u8>),
}

/// What comes back.
pub(super) struct Packed {
    /// Records for the output.
    pub(super) records: io::Result<Vec<u8>>,
    /// Bytes before.
    pub(super) plain: usize,
    /// The buffer that held them.
    buffer: Vec<u8>,
}

impl Packing {
    /// Starts the thread. It wakes the recorder for everything that it gives back.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(super) fn start(worked: Worked, waker: Waker) -> io::Result<Packing> {
        Packing::start_within(MOST_WAITING, worked, waker)
    }

    fn start_within(most_waiting: usize, worked: Worked, waker: Waker) -> io::Result<Packing> {
        let (jobs, taken) = channel();
        let (given, done) = channel();
        let thread = Builder::new().name("compress".to_owned());
        let thread = thread.spawn(move || work(worked, &taken, &given, waker))?;
        Ok(Packing {
            jobs: Some(jobs),
            done,
            thread: Some(thread),
            waiting: 0,
            spare: Vec::new(),
            most_waiting,
        })
    }

    /// Hands whole records over to be compressed. Gives what has come back, and waits for that where too much waits.
    ///
    /// # Errors
    /// The thread is gone.
    pub(super) fn records(&mut self, records: &[u8]) -> io::Result<Vec<Packed>> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(records);
        self.hand_over(Job::Records(buffer), records.len())?;
        let mut back = self.ready()?;
        while self.waiting > self.most_waiting {
            let packed = self.done.recv().map_err(|_| gone())?;
            back.push(self.took_back(packed));
        }
        Ok(back)
    }

    /// Hands a record over that stays as it is, behind all before it.
    ///
    /// # Errors
    /// The thread is gone.
    pub(super) fn mark(&mut self, mark: &[u8]) -> io::Result<()> {
        self.hand_over(Job::Mark(mark.to_vec()), mark.len())
    }

    /// All that has come back by now.
    ///
    /// # Errors
    /// The thread is gone.
    pub(super) fn ready(&mut self) -> io::Result<Vec<Packed>> {
        let mut back = Vec::new();
        loop {
            match self.done.try_recv() {
                Ok(packed) => back.push(self.took_back(packed)),
                Err(TryRecvError::Empty) => return Ok(back),
                Err(TryRecvError::Disconnected) => return Err(gone()),
            }
        }
    }

    /// Waits for everything; gives the rest, and what the thread used.
    ///
    /// # Errors
    /// The thread is gone.
    pub(super) fn finish(mut self) -> io::Result<(Vec<Packed>, Worked)> {
        self.jobs = None;
        let rest: Vec<Packed> = self.done.iter().collect();
        let thread = self.thread.take().ok_or_else(gone)?;
        let worked = thread.join().map_err(|_| gone())?;
        Ok((rest, worked))
    }

    fn hand_over(&mut self, job: Job, bytes: usize) -> io::Result<()> {
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job).map_err(|_| gone())?;
        self.waiting += bytes;
        Ok(())
    }

    fn took_back(&mut self, mut packed: Packed) -> Packed {
        self.waiting -= packed.plain.min(self.waiting);
        if self.spare.len() < MOST_SPARE {
            self.spare.push(std::mem::take(&mut packed.buffer));
        }
        packed
    }
}

#[cold]
fn gone() -> io::Error {
    io::Error::other("the thread that compresses has ended")
}

/// The thread: until nothing more comes, or nobody takes anything more.
fn work(mut worked: Worked, jobs: &Receiver<Job>, given: &Sender<Packed>, waker: Waker) -> Worked {
    for job in jobs {
        let (records, buffer) = match job {
            Job::Records(records) => {
                worked.tally.take(&records);
                (
                    worked.compressor.pack(&records).map(<[u8]>::to_vec),
                    records,
                )
            }
            Job::Mark(mark) => (Ok(mark.clone()), mark),
        };
        let packed = Packed {
            records,
            plain: buffer.len(),
            buffer,
        };
        if given.send(packed).is_err() {
            break;
        }
        waker.wake();
    }
    worked
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{Misc, RecordType};
    use oxperf_data::{FeatureSet, Reader, RecordSource, Writer, WriterEvent};
    use oxperf_wire::{Encoder, Endian};

    fn record(kind: RecordType, value: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.record(kind, Misc(0), |body| {
            body.u64(value);
            body.bytes(&[7; 2000]);
        });
        encoder.into_bytes()
    }

    fn packing(most_waiting: usize) -> Packing {
        let worked = Worked {
            compressor: Compressor::new(1).unwrap(),
            tally: Tally::default(),
        };
        Packing::start_within(most_waiting, worked, Waker::default()).unwrap()
    }

    /// The record types and values that a file of what came back holds.
    fn read(back: Vec<Packed>, worked: &Worked) -> Vec<(RecordType, u64)> {
        let mut writer = Writer::begin(Vec::new(), &[WriterEvent::default()]).unwrap();
        for packed in back {
            writer.append(&packed.records.unwrap()).unwrap();
        }
        let mut features = FeatureSet::new();
        features.insert(&worked.compressor.feature());
        let file = writer.finish(&features).unwrap();
        let reader = Reader::open(&file).unwrap();
        let RecordSource::Buffered(records) = reader.source().unwrap() else {
            panic!("nothing is compressed");
        };
        let records = records.map(Result::unwrap);
        let plain = records.filter(|record| record.header.kind != RecordType::COMPRESSED);
        plain
            .map(|record| {
                let value = *record.body.as_ref().first_chunk().unwrap();
                (record.header.kind, u64::from_ne_bytes(value))
            })
            .collect()
    }

    #[test]
    fn records_and_marks_come_back_in_order_however_few_may_wait() {
        for most_waiting in [0, 5000, usize::MAX] {
            let mut packing = packing(most_waiting);
            let (mut back, mut expected) = (Vec::new(), Vec::new());
            for value in 0..60 {
                let (kind, bytes) = (RecordType::SAMPLE, record(RecordType::SAMPLE, value));
                back.extend(packing.records(&bytes).unwrap());
                assert!(packing.waiting <= most_waiting);
                expected.push((kind, value));
                if value % 7 == 0 {
                    packing.mark(&record(RecordType::LOST, value)).unwrap();
                    expected.push((RecordType::LOST, value));
                }
            }
            let (rest, worked) = packing.finish().unwrap();
            back.extend(rest);
            assert_eq!(worked.tally.finish().samples, 60);
            let worked = Worked {
                compressor: worked.compressor,
                tally: Tally::default(),
            };
            assert_eq!(read(back, &worked), expected);
        }
    }
}
