//! Samples shown to a sink before their turn, so that it can work on many at once.

use oxperf_abi::{PerfTime, RecordType};

use crate::queued::Waiting;
use crate::{SampleEvent, Session, Sink};

/// Most samples shown at once: enough to keep the cores busy, few enough to stay in their caches.
const MAX_BATCH: usize = 1024;

/// The batch of samples that the sink has seen of the records that are being delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prefetch {
    /// The first record behind the batch.
    until: usize,
    /// Samples in the batch.
    batch_len: usize,
    /// Samples of it that have had their turn.
    delivered: usize,
    /// Index in the batch of the sample whose turn it is, if it is in there.
    index: Option<usize>,
}

impl Prefetch {
    /// Index in the batch of the sample whose turn it is.
    #[inline]
    pub(crate) fn index(&self) -> Option<usize> {
        self.index
    }
}

impl Session<'_, '_> {
    /// Takes the turn of the record at `index`; a sample behind the last batch begins the next one.
    pub(crate) fn take_turn<B: AsRef<[u8]>>(
        &mut self,
        index: usize,
        ready: &[(PerfTime, Waiting<B>)],
        sink: &mut impl Sink,
    ) {
        self.prefetch.index = None;
        if ready[index].1.header.kind != RecordType::SAMPLE {
            return;
        }
        if index >= self.prefetch.until {
            let (samples, length) = self.coming(&ready[index..]);
            sink.prefetch(&self.machine, &samples);
            self.prefetch = Prefetch {
                until: index + length.max(1),
                batch_len: samples.len(),
                ..Prefetch::default()
            };
        }
        self.prefetch.index =
            Some(self.prefetch.delivered).filter(|index| *index < self.prefetch.batch_len);
        self.prefetch.delivered += 1;
    }

    /// The samples up to the first record that changes the machine or cannot be decoded, and how many records that are.
    fn coming<'s, B: AsRef<[u8]>>(
        &mut self,
        records: &'s [(PerfTime, Waiting<B>)],
    ) -> (Vec<SampleEvent<'s>>, usize) {
        let mut samples = Vec::new();
        for (length, (time, waiting)) in records.iter().enumerate() {
            let kind = waiting.header.kind;
            if samples.len() == MAX_BATCH || changes_machine(kind) || self.jit.is_due(*time) {
                return (samples, length);
            }
            if kind != RecordType::SAMPLE {
                continue;
            }
            let queued = waiting.queued();
            let event = &self.events.events()[queued.event.0];
            let mut sampled = queued.sampled();
            if event
                .layout
                .decode_into(&mut sampled.sample, queued.record.body, self.endian)
                .is_err()
            {
                return (samples, length);
            }
            sampled.period = sampled.sample.period.unwrap_or(event.attr.sample_period);
            sampled.thread = self.thread_of(&sampled.sample);
            samples.push(sampled);
        }
        (samples, records.len())
    }
}

fn changes_machine(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::MMAP
            | RecordType::MMAP2
            | RecordType::COMM
            | RecordType::FORK
            | RecordType::EXIT
            | RecordType::KSYMBOL
            | RecordType::CALLCHAIN_DEFERRED
    )
}
