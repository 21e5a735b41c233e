//! Handing the buffers of a queue to a decoder one after another, without the part that two of them share.

use intel_pt::{Decoder, TraceChunk, Tsc};

use crate::overlap::new_part;
use crate::trace::TraceQueue;

/// The position of a queue in its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Feed<'t> {
    queue: &'t TraceQueue<'t>,
    next: usize,
    /// The buffer that was handed over last.
    last: Option<usize>,
    /// Bytes handed over so far.
    offset: u64,
    /// Number of the trace without a gap: it grows with every gap.
    pub(crate) stretch: u64,
    /// A buffer may begin with the end of the one before.
    overlapping: bool,
    has_tsc: bool,
    /// The reference time of the buffer that was handed over last, if it did not follow the one before; 0 if unknown.
    begun_with: Option<u64>,
}

impl<'t> Feed<'t> {
    pub(crate) fn new(queue: &'t TraceQueue<'t>, overlapping: bool, has_tsc: bool) -> Feed<'t> {
        Feed {
            queue,
            next: 0,
            last: None,
            offset: 0,
            stretch: 0,
            overlapping,
            has_tsc,
            begun_with: None,
        }
    }

    /// True when any buffer was looked for.
    pub(crate) fn is_begun(&self) -> bool {
        self.next > 0
    }

    /// The reference time of the buffer that was handed over last, if it did not follow the one before; 0 if unknown.
    pub(crate) fn begun_with(&self) -> Option<u64> {
        self.begun_with
    }

    /// Hands over the next buffer that holds something new; false at the end.
    pub(crate) fn advance(&mut self, decoder: &mut Decoder<'t>) -> bool {
        let next = self.next_chunk();
        next.into_iter().for_each(|chunk| decoder.push(chunk));
        next.is_some()
    }

    /// The next buffer that holds something new.
    pub(crate) fn next_chunk(&mut self) -> Option<TraceChunk<'t>> {
        while let Some(buffer) = self.queue.buffers.get(self.next) {
            let index = self.next;
            self.next += 1;
            let bytes = buffer.bytes();
            let (start, consecutive) = self.new_part(bytes);
            let bytes = &bytes[start..];
            if bytes.is_empty() {
                continue;
            }
            self.begun_with = (!consecutive).then_some(buffer.reference.unwrap_or(0));
            if !consecutive {
                self.stretch = index as u64 + 1;
            }
            let reference = buffer.reference.map(Tsc);
            let offset = self.offset;
            self.offset += bytes.len() as u64;
            self.last = Some(index);
            return Some(TraceChunk {
                bytes,
                offset,
                consecutive,
                reference,
            });
        }
        None
    }

    /// The start of the new part of a buffer, and true when it follows the one before.
    fn new_part(&self, bytes: &[u8]) -> (usize, bool) {
        let Some(last) = self.last.and_then(|last| self.queue.buffers.get(last)) else {
            return (0, false);
        };
        if !self.overlapping {
            return (0, true);
        }
        let found = new_part(last.bytes(), bytes, self.has_tsc);
        (found.start, found.consecutive)
    }
}
