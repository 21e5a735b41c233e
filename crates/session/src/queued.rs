//! Records on their way through a session: framed, with their event, not yet decoded.

use oxperf_abi::FileOffset;
use oxperf_data::RawRecord;
use oxperf_machine::ThreadId;
use oxperf_wire::{RecordHeader, Sample};

use crate::{EventIndex, SampleEvent};

/// A framed record with its event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued<'a> {
    pub(crate) record: RawRecord<'a>,
    pub(crate) event: EventIndex,
}

impl<'a> Queued<'a> {
    /// A sample of which no field is decoded yet.
    #[inline]
    pub(crate) fn sampled(&self) -> SampleEvent<'a> {
        let (event, RawRecord { offset, header, .. }) = (self.event, self.record);
        let (sample, thread) = (Sample::default(), ThreadId(0));
        SampleEvent {
            event,
            offset,
            misc: header.misc,
            sample,
            thread,
            period: 0,
            traced: None,
            prefetched: None,
        }
    }
}

/// A record that waits for its turn. The kernel's records have nothing outside of their size.
#[derive(Debug)]
pub(crate) struct Waiting<B> {
    pub(crate) offset: FileOffset,
    pub(crate) header: RecordHeader,
    pub(crate) body: B,
    pub(crate) event: EventIndex,
}

impl<B: AsRef<[u8]>> Waiting<B> {
    #[inline]
    pub(crate) fn queued(&self) -> Queued<'_> {
        let (offset, header, body) = (self.offset, self.header, self.body.as_ref());
        let record = RawRecord {
            offset,
            header,
            body,
            payload: &[],
        };
        Queued {
            record,
            event: self.event,
        }
    }
}
