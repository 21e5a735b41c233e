//! Call chains whose user part comes later, in a record of its own: their samples wait for it.

use std::ops::ControlFlow;

use oxperf_abi::{FileOffset, Tid};
use oxperf_data::RawRecord;
use oxperf_wire::kernel::CallchainDeferred;
use oxperf_wire::{Cursor, RecordHeader, Sample, Words, open_chain};

use crate::queued::Queued;
use crate::{EventIndex, Session, Sink};

/// The samples that wait, oldest first.
#[derive(Debug)]
pub(crate) struct Deferred {
    /// Samples wait; otherwise they are delivered with their chains open.
    joins: bool,
    waiting: Vec<OpenSample>,
}

/// A sample with an open chain.
#[derive(Debug)]
struct OpenSample {
    offset: FileOffset,
    header: RecordHeader,
    body: Box<[u8]>,
    event: EventIndex,
    tid: Option<Tid>,
    cookie: u64,
}

impl Default for Deferred {
    fn default() -> Deferred {
        Deferred {
            joins: true,
            waiting: Vec::new(),
        }
    }
}

impl Deferred {
    /// Leaves chains open.
    pub(crate) fn leave_open(&mut self) {
        self.joins = false;
    }

    /// Keeps a sample whose chain is open; `false` when it need not wait.
    #[inline]
    pub(crate) fn keep(&mut self, queued: &Queued<'_>, sample: &Sample<'_>) -> bool {
        match sample.callchain.and_then(open_chain).filter(|_| self.joins) {
            Some(cookie) => self.add(queued, sample, cookie),
            None => return false,
        }
        true
    }

    #[cold]
    fn add(&mut self, queued: &Queued<'_>, sample: &Sample<'_>, cookie: u64) {
        let (offset, header) = (queued.record.offset, queued.record.header);
        let (body, tid) = (queued.record.body.into(), sample.tid);
        self.waiting.push(OpenSample {
            offset,
            header,
            body,
            event: queued.event,
            tid,
            cookie,
        });
    }

    /// The samples of a thread, which now learns how they were called.
    fn of_thread(&mut self, tid: Option<Tid>) -> Vec<OpenSample> {
        self.waiting
            .extract_if(.., |open| open.tid == tid)
            .collect()
    }
}

impl Session<'_, '_> {
    /// Delivers the samples of the record's thread: those with its cookie with their chains complete. A sample with
    /// another cookie has missed its record: a thread's chains are completed in their order.
    pub(crate) fn close_chains(
        &mut self,
        queued: &Queued<'_>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if self.deferred.waiting.is_empty() {
            return ControlFlow::Continue(());
        }
        let body = queued.record.body;
        // A record that does not decode was counted when it was applied.
        let Ok(found) = CallchainDeferred::decode(&mut Cursor::new(body, self.endian)) else {
            return ControlFlow::Continue(());
        };
        let tid = self.events.events()[queued.event.0]
            .layout
            .sample_id(body, self.endian)
            .tid;
        let mut samples = self.deferred.of_thread(tid).into_iter();
        samples.try_for_each(|open| {
            let chain = (open.cookie == found.cookie).then_some(found.chain);
            self.deliver_open(&open, chain, sink)
        })
    }

    /// Delivers what still waits at the end.
    pub(crate) fn deliver_waiting(&mut self, sink: &mut impl Sink) -> ControlFlow<()> {
        let waiting = std::mem::take(&mut self.deferred.waiting);
        waiting
            .iter()
            .try_for_each(|open| self.deliver_open(open, None, sink))
    }

    fn deliver_open(
        &mut self,
        open: &OpenSample,
        user_part: Option<Words<'_>>,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let record = RawRecord {
            offset: open.offset,
            header: open.header,
            body: &open.body,
            payload: &[],
        };
        let queued = Queued {
            record,
            event: open.event,
        };
        let layout = &self.events.events()[open.event.0].layout;
        let mut sampled = queued.sampled();
        // It was decoded when it began to wait.
        if layout
            .decode_into(&mut sampled.sample, &open.body, self.endian)
            .is_err()
        {
            return ControlFlow::Continue(());
        }
        let joined = sampled
            .sample
            .callchain
            .zip(user_part)
            .map(|(open, user)| joined(open, user));
        let mut closed = sampled;
        if let Some(bytes) = &joined {
            closed.sample.callchain = Some(Words::new(bytes, self.endian));
        }
        self.deliver_decoded(&mut closed, sink)
    }
}

/// The words of an open chain without its end, and those that complete it.
fn joined(open: Words<'_>, user: Words<'_>) -> Vec<u8> {
    let kept = open.as_bytes().len().saturating_sub(2 * 8);
    [&open.as_bytes()[..kept], user.as_bytes()].concat()
}
