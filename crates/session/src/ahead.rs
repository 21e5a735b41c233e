//! Samples shown to a sink before their turn, so that it can work on many at once.

use oxperf_abi::{PerfTime, RecordType};

use crate::session::Waiting;
use crate::{SampleEvent, Session, Sink};

/// Most samples shown at once: enough to keep the cores busy, few enough to stay in their caches.
const MOST: usize = 1024;

/// What has been shown of the records that are being delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    /// The first record that was not looked at.
    until: usize,
    /// How many samples were shown.
    shown: usize,
    /// How many of them have had their turn.
    had: usize,
    /// The one whose turn it is, if that is one of them.
    place: Option<usize>,
}

impl Ahead {
    /// The place of the sample whose turn it is among those that were shown.
    #[inline]
    pub(crate) fn place(&self) -> Option<usize> {
        self.place
    }
}

impl Session<'_, '_> {
    /// Takes the turn of the record at `index`, and shows the samples from there on where none were shown.
    pub(crate) fn look_ahead<B: AsRef<[u8]>>(
        &mut self,
        index: usize,
        ready: &[(PerfTime, Waiting<B>)],
        sink: &mut impl Sink,
    ) {
        self.ahead.place = None;
        if ready[index].1.header.kind != RecordType::SAMPLE {
            return;
        }
        if index >= self.ahead.until {
            let (samples, length) = self.coming(&ready[index..]);
            sink.ahead(&self.machine, &samples);
            self.ahead = Ahead {
                until: index + length.max(1),
                shown: samples.len(),
                ..Ahead::default()
            };
        }
        self.ahead.place = Some(self.ahead.had).filter(|place| *place < self.ahead.shown);
        self.ahead.had += 1;
    }

    /// The samples up to the first record that changes the machine or cannot be decoded, and how many records that are.
    fn coming<'s, B: AsRef<[u8]>>(
        &mut self,
        records: &'s [(PerfTime, Waiting<B>)],
    ) -> (Vec<SampleEvent<'s>>, usize) {
        let mut samples = Vec::new();
        for (length, (time, waiting)) in records.iter().enumerate() {
            let kind = waiting.header.kind;
            if samples.len() == MOST || changes_machine(kind) || self.jit.is_due(*time) {
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
